"""One module for each kind of file; `extract.read_document` chooses among them by format."""

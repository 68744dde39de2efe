"""Reports as files for others, one module for each format; `formats` is the table of them."""

"""The service: the web app, a REST API and an OpenAI-compatible API, for one person or several.

Needs the packages of the extra `serve`.
"""

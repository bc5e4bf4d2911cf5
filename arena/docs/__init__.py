"""The documentation as a site: what MkDocs asks for beside the pages that are written by hand."""

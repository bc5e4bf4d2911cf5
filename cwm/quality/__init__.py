"""How good unit tests and programs are."""

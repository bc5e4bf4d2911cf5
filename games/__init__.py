"""Games: one pure-function protocol, its contract test, reference games and adapters."""

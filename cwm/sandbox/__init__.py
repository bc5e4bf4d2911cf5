"""Programs that a language model wrote run here alone, in processes that locked themselves first."""

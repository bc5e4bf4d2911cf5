"""Networks of policies and beliefs."""

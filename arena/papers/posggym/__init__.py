"""*POSGGym: a library for decision-theoretic planning and learning in … multi-agent environments* (2025)."""

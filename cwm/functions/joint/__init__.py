"""Functions beside a program with a joint step: values of states, policies and inference on an agent's own history."""

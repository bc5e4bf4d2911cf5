"""`cwm paper --paper NAME`: published papers, each with ours beside."""

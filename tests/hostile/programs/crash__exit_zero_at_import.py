# Ends its process as if all were well, while it is loaded.
# expect: crashed
# process: none
import os

os._exit(0)

# Never ends while it is loaded.
# expect: wall_timeout
# process: none
# limit: 0.3
while True:
    pass

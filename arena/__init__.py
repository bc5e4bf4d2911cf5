import cwm

# A process that plays games for a script is started with the script's path, and gets here first.
cwm.put_ours_first()

complete --keep-order --exclusive --command jobdoctor --arguments "(COMPLETE=fish jobdoctor -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"

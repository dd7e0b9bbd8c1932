complete --keep-order --exclusive --command jobdoctor --arguments "(JOBDOCTOR_COMPLETE=fish jobdoctor -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"

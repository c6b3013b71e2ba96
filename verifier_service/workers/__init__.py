"""Processes that judge, and the parent's side of them: start, limits, replacement.

| file | runs in |
|---|---|
| `pool`: gives tasks to workers and replaces those that are killed | API process |
| `worker`, `limits`: one worker, killed when an item uses up its limits | API process |
| `sources`, `server_process`: start workers | API process |
| `tasks`, `shared_position`, `shared_references`: messages and state that both sides share | both |
| `fork_template`: forks fork servers | template |
| `fork_server`: forks confined workers | fork server |
| `text_worker`: judges text | fork server and its workers |
| `code_worker`: judges programs, in the sandbox | worker |
"""

"""Languages of programs: how each is compiled, run and confined.

| part | file |
|---|---|
| what a row of the table says, and how its programs are compiled and run | `language` |
| the table: a row for each language | `table` |
| other ways to run a language, such as its tests | `runners` |
| names of languages and runners, those of other protocols among them | `names` |
| names that runtimes ask for: of the source's file, of the class to start | `source_names` |
| versions on this machine, and what is missing | `status` |
"""

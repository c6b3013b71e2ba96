"""Commands of `verifier-service`, each in a module that is loaded when it is asked for.

Others are with what they are about: `inspection.command`, `audit.command` and
`history.command`.
"""

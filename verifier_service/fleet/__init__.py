"""The service on a Ray cluster: gateways that answer calls, and judges that own the workers.

A gateway is the application of `verifier_service.app` behind Ray Serve. Its pools own no process:
`FleetPool` sends each task to a judge, a replica with a worker pool. Both need the extra `ray`. The
model that verifiers ask, `model_judge`, is another judge: gateways call it.
"""

"""SandboxFusion's data sets, whose rows come with the request."""

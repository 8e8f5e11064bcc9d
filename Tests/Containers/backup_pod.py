"""The pod of Docker/kubernetes/backup.yaml, which this machine's engine runs, confined as a kubelet would."""

import yaml
from project import ENGINE, Project, run
from stack_control import ROOT


class BackupPod:
    """Its container with the stores of a stack in containers, and with the stack's volume of backups."""

    def __init__(self, project: Project):
        items = yaml.safe_load((ROOT / "Docker" / "kubernetes" / "backup.yaml").read_text())["items"]
        cron, = [item for item in items if item["kind"] == "CronJob"]
        spec = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        container, = spec["containers"]
        # What the job runs.
        self.command: list[str] = container["command"]
        mounts = {mounted["name"]: mounted["mountPath"] for mounted in container["volumeMounts"]}
        # Where it has the volume, as the service `migrate` of compose does.
        self.backups: str = mounts["backups"]
        secret = project.folder / "stores"
        secret.mkdir()
        (secret / "redis-url").write_text(f"redis://:{project.secret('redis-password')}@redis:6379\n")
        (secret / "postgres-url").write_text(f"postgresql://heliograph:{project.secret('postgres-password')}@postgres:5432/heliograph\n")
        for path in (secret, *secret.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o444)
        user, confined = spec["securityContext"], container["securityContext"]
        assert confined["readOnlyRootFilesystem"] and not confined["allowPrivilegeEscalation"]
        self._options = [
            "--rm", "--network", next(iter(project.inspect(project.ids("redis")[0])["NetworkSettings"]["Networks"])),
            "--user", f"{user['runAsUser']}:{user['runAsGroup']}", "--security-opt", "no-new-privileges",
            *[f"--cap-drop={name}" for name in confined["capabilities"]["drop"]],
            # Mi is what engines call m.
            "--memory", container["resources"]["limits"]["memory"].lower().removesuffix("i"),
            # Kubernetes adds no folders that can be written to; Podman would.
            "--read-only", *(["--read-only-tmpfs=false"] if ENGINE == "podman" else []),
            *[f"--env={variable['name']}={variable['value']}" for variable in container["env"]],
            f"--volume={secret}:{mounts['stores']}:ro", f"--volume={project.name}_backups:{self.backups}", container["image"]]

    def run(self, *command: str) -> str:
        """Runs a command in such a container; its output."""
        return run(ENGINE, "run", *self._options, *command)

"""`cwm doctor`: what the sandbox holds back on this machine, tried out, and how to get a better one."""

import platform
from typing import Any, Final

import typer

from arena.commands.exit_codes import EXIT_NEGATIVE, EXIT_SYSTEM
from arena.figures.sheet import Sheet
from arena.terminal import console
from arena.terminal.options import AsJson
from cwm.sandbox.parent import attacks, isolation, levels
from cwm.sandbox.parent.attacks import Finding
from cwm.sandbox.wire.api import Level

_HOW: Final[dict[Level, str]] = {
    "strong+": "install bubblewrap (e.g. `apt install bubblewrap`); on Ubuntu 24.04 let it make user namespaces "
    "(an AppArmor profile for bwrap); in a container allow namespaces (Docker: --security-opt seccomp=unconfined)",
    "strong": "use Linux on x86-64 or aarch64, for example in a virtual machine or a container, and let processes "
    "install seccomp filters (kernel option CONFIG_SECCOMP_FILTER)",
}


def command(as_json: AsJson = False) -> None:
    """Try a dozen and more attacks in throw-away workers; print what holds, the level, and how to get a better one."""
    probes = {level: levels.probe(level) for level in levels.STRONG}
    level = levels.default()
    probe = levels.probe(level)
    tried = level if probe.problem is None else "process"
    findings = list(attacks.attempt(tried))
    held = all(found.held for found in findings)
    better = [
        {"level": other, "why_not": found.problem, "how": _HOW[other]}
        for other, found in probes.items()
        if found.problem is not None
    ]
    data: dict[str, Any] = {
        "level": level if probe.problem is None else None,
        "tried_at": tried,
        "promise": isolation.PROMISES[tried],
        "held": held,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "landlock_abi": levels.probe(tried).landlock,
        "properties": [
            {"name": found.attack.name, "promise": found.attack.promise, "held": found.held, "detail": found.detail}
            for found in findings
        ],
        "better": better,
    }
    if as_json:
        console.print_json(data)
    else:
        _show(data, findings)
    if data["level"] is None:
        raise typer.Exit(EXIT_SYSTEM)
    # A weak level that the user asked for promises no more than it holds.
    if any(not found.held for found in findings if found.attack.weak or level in levels.STRONG):
        raise typer.Exit(EXIT_NEGATIVE)


def _show(data: dict[str, Any], findings: list[Finding]) -> None:
    table = Sheet("", ["property", "", "what the attack met"])
    for found in findings:
        table.add(found.attack.promise, "pass" if found.held else "FAIL", found.detail)
    console.out.print(table)
    passed = sum(found.held for found in findings)
    level = data["level"] or "none that holds; tried at process"
    console.out.print(f"level: {level} ({data['promise']})", markup=False)
    console.out.print(f"kernel: {data['kernel']}; Landlock ABI: {data['landlock_abi'] or 'none'}", markup=False)
    console.out.print(f"{passed} of {len(findings)} properties hold", markup=False)
    for item in data["better"]:
        console.out.print(f"not {item['level']}: {item['why_not']}. To get it: {item['how']}.", markup=False)
    if data["level"] is None:
        console.out.print("programs that do not ship with the project are refused here", markup=False)

"""A small stdio server that misbehaves as its argument says; standard library only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

MODE = sys.argv[1]
EMPTY = {"type": "object", "properties": {}}
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
tools: list[dict[str, Any]] = [
    {"name": name, "description": f"The tool {name}.", "inputSchema": EMPTY}
    for name in ("echo", "slow", "grow", "show", "fail", "environ", "hang", "many")
]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def answer(number: Any, *content: dict[str, Any], **more: Any) -> None:
    send({"id": number, "result": {"content": list(content), **more}})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(number: Any, params: dict[str, Any]) -> None:
    match params["name"]:
        case "echo":
            answer(number, text(json.dumps(params.get("arguments"))))
        case "slow":
            token = params.get("_meta", {}).get("progressToken")
            about = {"progressToken": token, "progress": 1, "total": 4, "message": "\x1b[2Jbusy"}
            send({"method": "notifications/progress", "params": about})
        case "grow":
            tools.append({"name": "fresh", "inputSchema": EMPTY})
            send({"method": "notifications/tools/list_changed"})
            answer(number, text("grown"))
        case "show":
            answer(
                number,
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                {"type": "image", "data": "no base64!", "mimeType": "image/png"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
                {"type": "resource_link", "uri": "x://2", "name": "two"},
                structuredContent={"a": 1},
            )
        case "many":
            answer(number, text("\n".join(map(str, range(5000)))))
        case "fail":
            answer(number, text("out of luck"), isError=True)
        case "environ":
            answer(number, text("\n".join(sorted(os.environ))))


def trouble() -> None:
    """What this mode does once the greeting is over."""
    match MODE:
        case "rubbish":
            while True:
                sys.stdout.write("x" * 1000 + "\n")
        case "endless-line":
            while True:
                sys.stdout.write("y" * 100_000)
        case "notifications":
            while True:
                send({"method": "notifications/message", "params": {"level": "info", "data": "n"}})
        case "stderr":
            while True:
                sys.stderr.write("e" * 200 + "\n")
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen(["sleep", sys.argv[2]], start_new_session=True)
            subprocess.Popen(["sleep", sys.argv[2]])


def listed(method: str) -> dict[str, Any]:
    match method:
        case "tools/list":
            if MODE == "bad-schema":
                bad = {"type": "object", "properties": {"a": {"type": "no such type"}}}
                return {"tools": [*tools, {"name": "bad", "inputSchema": bad}]}
            return {"tools": "none"} if MODE == "bad-list" else {"tools": tools}
        case "prompts/list":
            arguments = [{"name": "what", "required": True}, {"name": "how"}]
            return {"prompts": [{"name": "re.view", "arguments": arguments}]}
        case "prompts/get":
            content = {"type": "text", "text": "Look at it."}
            return {"messages": [{"role": "user", "content": content}]}
        case "resources/list":
            return {"resources": [{"uri": "note://one", "name": "one"}]}
        case "resources/read":
            return {"contents": [{"uri": "note://one", "text": "the note"}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
    return {}


def take(message: dict[str, Any]) -> None:
    method, number = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method == "initialize":
        can = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
        about = {"name": "odd\x1b[31m", "version": "1"}
        version = params["protocolVersion"]
        send(
            {
                "id": number,
                "result": {"protocolVersion": version, "capabilities": can, "serverInfo": about},
            }
        )
        if MODE == "stubborn":  # only the main thread may ignore signals
            trouble()
        else:
            threading.Thread(target=trouble, daemon=True).start()
    elif method == "notifications/cancelled":
        say(f"cancelled {params['requestId']}")
    elif method == "tools/call":
        call(number, params)
    elif number is not None and method is not None:
        send({"id": number, "result": listed(method)})


for line in sys.stdin:
    take(json.loads(line))
if MODE == "stubborn":
    threading.Event().wait()

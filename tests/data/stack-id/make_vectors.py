#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vectors.json beside this file, or checks it with --check.

A second implementation of docs/formats/stack-id.md, written from that page and sharing no code with the C one.
Needs Debian's python3-xxhash.
"""
import json
import pathlib
import re
import sys

try:
    import xxhash
except ImportError:
    print("skipped: Python's xxhash is missing; install the package python3-xxhash")
    sys.exit(77)

JAVA, NATIVE, JVM, KERNEL, UNKNOWN = range(5)
REPLACEMENT = "\ufffd".encode()


# ---- section 2 ----


def clean(name: bytes) -> bytes:
    pair = re.compile(rb"\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])")
    parts, text = [], name

    def well_formed(piece: bytes) -> str:
        return piece.replace(b"\xc0\x80", b"\x00").decode("utf-8", "replace").replace("\x00", "\ufffd")

    at = 0
    for match in pair.finditer(text):
        parts.append(well_formed(text[at : match.start()]))
        a, b, c, d = (m[0] & 0x3F for m in match.groups())
        high, low = (a & 0x0F) << 6 | b, (c & 0x0F) << 6 | d
        parts.append(chr(0x10000 + (high << 10) + low))
        at = match.end()
    parts.append(well_formed(text[at:]))
    out = b""
    for char in "".join(parts):
        if len(out) + len(char.encode()) > 65535:
            break
        out += char.encode()
    return out


# ---- section 3 ----

CGLIB = (
    rb"\$\$(?:EnhancerBySpringCGLIB|FastClassBySpringCGLIB|SpringCGLIB|EnhancerByCGLIB|FastClassByCGLIB"
    rb"|EnhancerByGuice|FastClassByGuice)"
)
BUDDY = rb"\$(?:ByteBuddy|HibernateProxy|HibernateBasicProxy|HibernateInstantiator|HibernateAccessOptimizer)"
MARKS = re.compile(
    rb"(\$\$Lambda)(?:\$[0-9]++(?=\$|\Z))+"
    rb"|(" + CGLIB + rb")(?:\$\$[0-9a-f_]++(?=\$|\Z))+"
    rb"|(" + BUDDY + rb")\$[0-9A-Za-z]{8}(?=\$\$|\Z)"
)
ACCESSOR = re.compile(
    rb"((?:jdk\.internal|sun)\.reflect\.Generated(?:Method|Constructor|SerializationConstructor)Accessor)[0-9]+\Z"
)


def normal_class(name: bytes) -> bytes:
    while match := re.match(rb"(?s)(.+)[+/.](?:0x[0-9a-fA-F]+|[0-9]+)\Z", name):
        name = match[1]
    name = name.replace(b"/", b".")
    name = MARKS.sub(lambda m: m[1] or m[2] or m[3], name)
    name = re.sub(rb"\A" + ACCESSOR.pattern, rb"\1", name)
    if re.search(rb"(?:\A|\.)\$Proxy[0-9]+\Z", name):
        name = re.sub(rb"[0-9]+\Z", b"", name)
        name = re.sub(rb"\Ajdk\.proxy[0-9]+\.", b"jdk.proxy.", name)
    return name


def normal_symbol(name: bytes) -> bytes:
    while match := re.match(rb"(?s)(.+)@0x[0-9a-fA-F]+\Z", name):
        name = match[1]
    return name


# ---- section 4 ----


def varint(n: int) -> bytes:
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def hash_frame(kind, class_name, method, line):
    text = bytes([kind]) + varint(len(class_name)) + class_name + varint(len(method)) + method
    method_hash = xxhash.xxh3_64_intdigest(text)
    return method_hash, (method_hash * 0x9E3779B97F4A7C15 + line) % 2**64


# ---- cases ----


def case(name, *frames, version=1):
    out, ids = [], b""
    for frame in frames:
        kind, class_name, method, line = frame[:4]
        repeat = frame[4] if len(frame) > 4 else 1
        given_class, given_method = class_name * repeat, method
        c, m = clean(given_class), clean(given_method)
        if version == 1:
            c, m = (normal_class(c), m) if kind == JAVA else (c, normal_symbol(m))
        method_hash, frame_id = hash_frame(kind, c, m, line)
        ids += frame_id.to_bytes(8, "little")
        row = {"kind": kind, **field("class", class_name), **field("method", method), "line": line}
        if repeat > 1:
            row["class_repeat"] = repeat
        else:
            row.update(normal_class=c.decode(), normal_method=m.decode())
        row.update(method_hash=f"{method_hash:016x}", frame_id=f"{frame_id:016x}")
        out.append(row)
    stack_id = xxhash.xxh3_128_hexdigest(b"HS1" + bytes([version]) + ids)
    return {"name": name, "version": version, "frames": out, "stack_id": stack_id}


def field(key, value: bytes):
    try:
        if b"\x00" in value:
            raise UnicodeError
        return {key: value.decode("utf-8")}
    except UnicodeError:
        return {key + "_hex": value.hex()}


CLASSES = [
    # hidden classes and lambdas, as JDK 11 to 25 and async-profiler write them
    "T$$Lambda$1/1521118594",
    "T$$Lambda$1.1521118594",
    "T$$Lambda$76+0x00000008000c6a08/1414506856",
    "T$$Lambda+0x00000008000c5a08/1760126453",
    "T$$Lambda/0x0000000099142800",
    "T$$Lambda.0x000000009e080210",
    "T$$Lambda$3.0x0000000800001a00",
    "T$$Lambda",
    "T$$Lambda$12$$Lambda$3",
    "T$$Lambda$1$2",
    "T$$Lambda$1x",
    "T$Lambda$1",
    "java/lang/invoke/LambdaForm$MH/400136488",
    "java.lang.invoke.LambdaForm$DMH.0x0000000800000400",
    "java/lang/invoke/LambdaForm$Holder",
    "a.b.Hidden+0xAbC",
    "a.b.Hidden+0x",
    "a.b.Hidden+0xg1",
    "a.0x1.22/3+4",
    "/12",
    "7",
    ".7",
    "user$eval123",
    # generated accessors
    "jdk/internal/reflect/GeneratedMethodAccessor17",
    "jdk.internal.reflect.GeneratedSerializationConstructorAccessor2",
    "sun.reflect.GeneratedConstructorAccessor5",
    "my.sun.reflect.GeneratedConstructorAccessor5",
    "jdk.internal.reflect.GeneratedMethodAccessor",
    # proxies
    "$Proxy12",
    "com.sun.proxy.$Proxy0",
    "jdk.proxy2.$Proxy31",
    "jdk.proxy2.Other",
    "jdk.proxyx.$Proxy1",
    "a.Foo$Proxy1",
    "a.Svc$$EnhancerBySpringCGLIB$$1a2b3c4d",
    "a.Svc$$EnhancerBySpringCGLIB$$1a2b$$FastClassBySpringCGLIB$$ff_2",
    "a.Svc$$SpringCGLIB$$0",
    "a.Svc$$SpringCGLIB$$0$$Lambda$5/0x0000000800c03000",
    "a.Svc$$EnhancerByCGLIB$$ab$$cd",
    "a.Svc$$EnhancerByCGLIB$$abX",
    "a.Svc$$EnhancerByCGLIB$$ab$Inner",
    "a.Svc$ByteBuddy$aB3dE6gH",
    "a.Svc$ByteBuddy$aB3dE6gH$Inner",
    "a.Svc$ByteBuddy$aB3dE6gHi",
    "a.Svc$HibernateProxy$Zz09aA11$$Lambda$2",
    "a.Svc$HibernateProxy$Customer",
]


def cases():
    run = (JAVA, b"java.lang.Thread", b"run", 840)
    yield case("no frames")
    yield case("no frames, not normalised", version=0)
    yield case("one frame", run)
    yield case("line counts", (JAVA, b"java.lang.Thread", b"run", 841))
    yield case("no line", (JAVA, b"java.lang.Thread", b"run", 0))
    yield case("largest line", (JAVA, b"java.lang.Thread", b"run", 2**32 - 1))
    yield case("leaf first", (JAVA, b"a.B", b"c", 1), run)
    yield case("root first is another stack", run, (JAVA, b"a.B", b"c", 1))
    yield case("slashes", (JAVA, b"java/lang/Thread", b"run", 840))
    yield case("slashes, not normalised", (JAVA, b"java/lang/Thread", b"run", 840), version=0)
    yield case("empty names", (UNKNOWN, b"", b"", 0))
    yield case("where class ends counts", (JAVA, b"ab", b"c", 0), (JAVA, b"a", b"bc", 0))
    for kind, name in enumerate(["java", "native", "jvm", "kernel", "unknown"]):
        yield case("kind " + name, (kind, b"", b"f", 0))
    yield case("all kinds", (KERNEL, b"", b"entry_SYSCALL_64_[k]", 0), (NATIVE, b"libc.so.6", b"__write", 0),
               (JVM, b"", b"JavaCalls::call_helper", 0), run, (UNKNOWN, b"", b"[unknown]", 0))
    yield case("constructors", (JAVA, b"a.B", b"<init>", 3), (JAVA, b"a.B", b"<clinit>", 1))
    yield case("lambda bodies keep their numbers", (JAVA, b"a.B", b"lambda$main$0", 3))
    for name in CLASSES:
        yield case("class " + name, (JAVA, name.encode(), b"m", 5))
    yield case("no rule for native classes", (NATIVE, b"a/b$$Lambda$1/22", b"m", 0))
    yield case("not normalised lambda", (JAVA, b"T$$Lambda$1/1521118594", b"run", 0), version=0)
    for kind in (NATIVE, JVM, KERNEL, UNKNOWN, JAVA):
        yield case(f"address in a symbol of kind {kind}", (kind, b"", b"I2C/C2I adapters(0xb0000000)@0x00007f0163242900", 0))
    yield case("only an address", (NATIVE, b"", b"@0x12", 0), (NATIVE, b"", b"f@0x12@0xAb", 0), (NATIVE, b"", b"f@0x", 0))
    yield case("UTF-8", (JAVA, "pkg.Größe".encode(), "计算".encode(), 1), (JAVA, "a.😀".encode(), b"m", 1))
    yield case("surrogate pair is the code point", (JAVA, b"a.\xed\xa0\xbd\xed\xb8\x80", b"m", 1))
    ill = [b"\xed\xa0\x80", b"\xed\xb8\x80\xed\xa0\xbd", b"\xe2\x82", b"\xe2\x82x", b"\xf0\x9f\x98", b"\xff", b"\xc0\x80", b"\x00",
           b"\xc1\x81", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xf5\x80", b"\x80\xbf", b"\xed\xa0\xbd\xed\xb8", b"\xc3\xc3\xa9",
           b"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"]
    for name in ill:
        yield case("ill-formed " + name.hex(), (JAVA, b"a" + name, b"m" + name + b"z", 0))
    yield case("control characters stay", (JAVA, b"a\n\x1b[31m</script>\x7f", "\u202e\u2028".encode(), 0))
    yield case("class of 127 bytes", (JAVA, b"k" * 127, b"m", 0))
    yield case("class of 128 bytes", (JAVA, b"k" * 128, b"m", 0))
    yield case("class of 300 bytes", (JAVA, b"kkk", b"m", 0, 100))
    yield case("class of 20,000 bytes", (JAVA, b"ab", b"m", 0, 10000))
    yield case("class of 65,535 bytes", (JAVA, b"abc", b"m", 0, 21845))
    yield case("class cut at 65,535 bytes", (JAVA, "aé".encode(), b"m", 0, 40000))
    yield case("ill-formed, cut", (JAVA, b"\xff", b"m", 0, 65535))
    yield case("deep recursion", *[(JAVA, b"a.B", b"f", 7)] * 64)


def main():
    rows = ",\n".join(json.dumps(c, ensure_ascii=True) for c in cases())
    text = '{"format": 1, "cases": [\n' + rows + "\n]}\n"
    path = pathlib.Path(__file__).with_name("vectors.json")
    if sys.argv[1:] != ["--check"]:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} differs from what this script makes")


main()

"""Two hundred attacks on the language of proofs: each shows its data, or costs more than is claimed (epsilon 1, entries
between 0 and 1). What was tried, by what it abuses."""

# ruff: noqa
from __future__ import annotations

import inspect
import math
import os
import random
import sys
import time

import numpy as np

LEFT = 0
HELD = {"leak": lambda d: d[0]}


def identity(x):
    return x


def attack_0(d, rng):
    v = d[:]
    v[0] = 9 * d[0]
    return d[0] + rng.laplace(0, 0.5)


def attack_1(d, rng):
    d[1:] = d[:-1]
    return d.sum() + rng.laplace(0, 0.4)


def attack_2(d, rng):
    r = d.ravel()
    r[:] = 2 * r
    return d.sum() + rng.laplace(0, 1)


def attack_3(d, rng):
    r = d.reshape(len(d), 1)
    r[:] = 3 * r
    return d.sum() + rng.laplace(0, 2)


def attack_4(d, rng):
    r = np.transpose(d)
    r[:] = 4 * r
    return d.sum() + rng.laplace(0, 3)


def attack_5(d, rng):
    r = d.T
    r[0] = 5 * r[0]
    return d.sum() + rng.laplace(0, 2)


def attack_6(d, rng):
    r = np.asarray(d)
    r[:] = 2 * r
    return d.sum() + rng.laplace(0, 1)


def attack_7(d, rng):
    r = np.array(d)
    r = d
    r[:] = 3 * r
    return d.sum() + rng.laplace(0, 2)


def attack_8(d, rng):
    r = d
    r *= 5
    return d.sum() + rng.laplace(0, 4)


def attack_9(d, rng):
    r = d
    r -= 10 * d
    return d.sum() + rng.laplace(0, 4)


def attack_10(d, rng):
    a = [d[0]]
    b = [a, a]
    b[0][0] = 5 * d[0]
    return b[1][0] + rng.laplace(0, 3)


def attack_11(d, rng):
    a = [[0.0]] * 2
    a[0][0] = d[0]
    return a[1][0]


def attack_12(d, rng):
    a = dict.fromkeys("xy", [0.0])
    return a["x"]


def attack_13(d, rng):
    m = np.zeros((2, 2))
    r = m[0]
    r[0] = d[0]
    return m[0, 0]


def attack_14(d, rng):
    m = np.zeros((2, 2))
    c = m[:, 1]
    c[:] = d[0]
    return m.sum()


def attack_15(d, rng):
    r = np.array(d)[::-1]
    q = r
    q[-1] = 9 * d[0]
    return r[-1] + rng.laplace(0, 5)


def attack_16(d, rng):
    r = d[0:0]
    r[:] = 7
    return d.sum() + rng.laplace(0, 0.5)


def attack_17(d, rng):
    a = [d[0]]
    a += a
    return sum(a) + rng.laplace(0, 1)


def attack_18(d, rng):
    a = list(d) + [d[0]]
    s = 0.0
    for x in a:
        s += x
        a.pop()
    return s + rng.laplace(0, 0.4)


def attack_19(d, rng):
    a = [d[0]]
    s = 0.0
    for x in a:
        s += x
        if len(a) < 5:
            a.append(x)
    return s + rng.laplace(0, 4)


def attack_20(d, rng):
    d.sort()
    return d[0], d[-1]


def attack_21(d, rng):
    r = np.zeros(2)
    q = r[:1]
    q.fill(d[0])
    return r[0]


def attack_22(d, rng):
    r = d[:1].copy()
    r[0] = 0
    return d[0]


def attack_23(d, rng):
    t = (np.zeros(1),)
    u = t
    u[0][0] = d[0]
    return t[0][0]


def attack_24(d, rng):
    def f(a=np.zeros(1)):
        a[0] += d[0]
        return a[0]

    f()
    return f() + rng.laplace(0, 1)


def attack_25(d, rng):
    a = [d[0]]
    b = a
    a *= 2
    return sum(b) + rng.laplace(0, 1)


def attack_26(d, rng):
    a = {1}
    b = a
    a |= {2}
    return len(b) * d[0]


def attack_27(d, rng):
    a = {1: 0}
    b = a
    a |= {2: 0}
    return len(b) * d[0]


def attack_28(d, rng):
    r = np.ones(1)
    pair = [r, r]
    pair[0] += d[0]
    return pair[1][0]


def attack_29(d, rng):
    a = np.zeros(1, int)
    a[0] = 3 * d[0]
    return a[0]


def attack_30(d, rng):
    a = np.array([1, 2])
    a[0] = d[0] * 9
    return a[0] + rng.laplace(0, 1)


def attack_31(d, rng):
    a = np.full(1, 0)
    a += d[:1]
    return a


def attack_32(d, rng):
    a = np.zeros_like(np.array([1]))
    a[0] = d[0]
    return a[0]


def attack_33(d, rng):
    a = d > 0.5
    return a + a


def attack_34(d, rng):
    a = d > 0.5
    return a - a


def attack_35(d, rng):
    return ~(d[0] > 0.5)


def attack_36(d, rng):
    return -(d > 0.5)


def attack_37(d, rng):
    return np.array([2]) ** -1 * d[0]


def attack_38(d, rng):
    return (10 * d).astype(int)


def attack_39(d, rng):
    return (300 * d).astype(np.uint8)


def attack_40(d, rng):
    return d.astype(np.float16)


def attack_41(d, rng):
    return d.view(np.int64)


def attack_42(d, rng):
    return np.frombuffer(d.tobytes())[0]


def attack_43(d, rng):
    return np.array([d[0], None])[0]


def attack_44(d, rng):
    return np.array([str(d[0])])[0]


def attack_45(d, rng):
    return d.sum(dtype=np.float32)


def attack_46(d, rng):
    return np.mean(3 * d, dtype=int)


def attack_47(d, rng):
    return (d * 1j).imag


def attack_48(d, rng):
    return np.where(d > 0.5, np.nan, 0)[0]


def attack_49(d, rng):
    return np.where(d > 0.5, np.inf, 0)[0]


def attack_50(d, rng):
    return 1.0 if str(-0.0 * d[0]) == "-0.0" else 0.0


def attack_51(d, rng):
    return round(d[0] * 2 + 0.5)


def attack_52(d, rng):
    return np.round(d[0] * 2 + 0.5)


def attack_53(d, rng):
    return 2**62 * int(d[0] > 0.5) * 4


def attack_54(d, rng):
    return np.floor(d.sum() + 0.5)


def attack_55(d, rng):
    return d[0] % 0.25


def attack_56(d, rng):
    return divmod(d[0], 0.3)[0]


def attack_57(d, rng):
    return 1 / d[0]


def attack_58(d, rng):
    return math.hypot(d[0], 1)


def attack_59(d, rng):
    return math.isclose(d[0], 0.5, abs_tol=0.3)


def attack_60(d, rng):
    return np.allclose(d, 0.5, atol=0.3)


def attack_61(d, rng):
    sum = max
    return sum(d) + rng.laplace(0, 0.1)


def attack_62(d, rng):
    len = lambda x: x[0]
    return len(d)


def attack_63(d, rng):
    np = [d]
    return np[0][0]


def attack_64(d, rng):
    clip = lambda x: x
    return clip(d[0] * 3) + rng.laplace(0, 1)


def attack_65(d, rng):
    if d[0] > 0.5:
        x = 1
    return x


def attack_66(d, rng):
    x = 7
    [x for x in d]
    return d[0] if x == 7 else 0


def attack_67(d, rng):
    f = [lambda: i for i in range(2)]
    return f[0]() * d[0]


def attack_68(d, rng):
    x = 0
    f = lambda: x
    x = d[0]
    return f()


def attack_69(d, rng):
    x = d[0]
    f = lambda y=x: y
    x = 0
    return f()


def attack_70(d, rng):
    f = lambda a, b: a
    return f(b=0, a=d[0])


def attack_71(d, rng):
    f = lambda *a: a[0]
    return f(*d)


def attack_72(d, rng):
    f = lambda **k: k["x"]
    return f(**{"x": d[0]})


def attack_73(d, rng):
    (y := d[0])
    return y


def attack_74(d, rng):
    return y if (y := d[0]) > 0.5 else 0


def attack_75(d, rng):
    a, b = 0, d[0]
    a, b = b, a
    return a


def attack_76(d, rng):
    *a, b = [*d, 0]
    return a[0]


def attack_77(d, rng):
    a = b = [0]
    a[0] = d[0]
    return b[0]


def attack_78(d, rng):
    return HELD["leak"](d)


def attack_79(d, rng):
    return eval("d[0]")


def attack_80(d, rng):
    exec("x = d[0]")
    return locals()["x"]


def attack_81(d, rng):
    return locals()["d"][0]


def attack_82(d, rng):
    return globals()["identity"](d)[0]


def attack_83(d, rng):
    return list(vars().values())[0][0]


def attack_84(d, rng):
    import math as m

    return m.floor(d[0] * 3)


def attack_85(d, rng):
    return __import__("math").floor(d[0] * 3)


def attack_86(d, rng):
    return getattr(np, "sum")(d)


def attack_87(d, rng):
    return getattr(d, "s" + "um")()


def attack_88(d, rng):
    return np.ndarray.sum(d)


def attack_89(d, rng):
    return float.__add__(0.0, float(d[0]))


def attack_90(d, rng):
    f = lambda i: 0 if i == 0 else d[0] + f(i - 1)
    return f(3) + rng.laplace(0, 2)


def attack_91(d, rng):
    f = lambda i: 0 if i == 0 else g(i - 1)
    g = lambda i: d[0] + f(i)
    return f(2)


def attack_92(d, rng):
    f = lambda i: f(i + 1)
    return f(0) * d[0]


def attack_93(d, rng):
    while d[0] >= 0:
        pass
    return 0


def attack_94(d, rng):
    x = d[0]
    n = 0
    while x > 0.1:
        x -= 0.1
        n += 1
    return n


def attack_95(d, rng):
    for x in d:
        if x > 0.5:
            break
    else:
        return 1
    return 0


def attack_96(d, rng):
    i = 0
    while i < 1:
        i += 1
        if d[0] > 0.5:
            break
    else:
        return 1
    return 0


def attack_97(d, rng):
    n = 0
    for x in d:
        if x > 0.5:
            continue
        n += 1
    return n


def attack_98(d, rng):
    n = 0
    for x in d:
        if x > 0.5:
            break
        n += rng.laplace(0, 1)
    return n


def attack_99(d, rng):
    return len(range(int(d[0] * 3)))


def attack_100(d, rng):
    return sorted([0, 1], key=lambda i: d[0] if i else 0.5)[0]


def attack_101(d, rng):
    return sorted([d[0], 0.5], reverse=True)[0] + rng.laplace(0, 0.1)


def attack_102(d, rng):
    return max([0, 1], key=lambda i: d[0] if i else 0.5)


def attack_103(d, rng):
    return min("ab", key=lambda c: d[0] if c == "a" else 0.5)


def attack_104(d, rng):
    return any(x > 0.5 or rng.laplace() > 9 for x in d)


def attack_105(d, rng):
    return all(x > 0.5 for x in d)


def attack_106(d, rng):
    return len(list(zip([x for x in d if x > 0.5], range(9))))


def attack_107(d, rng):
    return len(list(filter(lambda x: x > 0.5, d)))


def attack_108(d, rng):
    return list(map(lambda x: x > 0.5, d))


def attack_109(d, rng):
    return list(reversed(d))[0]


def attack_110(d, rng):
    return [i for i, x in enumerate(d) if x > 0.5]


def attack_111(d, rng):
    return {1 if d[0] > 0.5 else 2: 0}


def attack_112(d, rng):
    a = {}
    a["x" if d[0] > 0.5 else "y"] = 0
    a["x"] = a["y"] = 0
    return a


def attack_113(d, rng):
    return len({1, 2 if d[0] > 0.5 else 1})


def attack_114(d, rng):
    return list({"a", "b"})[0] if d[0] > 0.5 else list({"b", "a"})[0]


def attack_115(d, rng):
    g = (x for x in d)
    sum(g)
    return sum(g) + d[0]


def attack_116(d, rng):
    x = 0
    g = (x for _ in range(1))
    x = d[0]
    return next(iter(list(g)))


def attack_117(d, rng):
    g = (rng.laplace(0, 9) for _ in range(1))
    return d[0] * 9


def attack_118(d, rng):
    yield d[0]


def attack_119(d, rng):
    try:
        return 1 / (d[0] > 0.5)
    except ZeroDivisionError:
        return 0


def attack_120(d, rng):
    try:
        return 0
    finally:
        d[0] = 1


def attack_121(d, rng):
    with open("/dev/null") as f:
        return d[0]


def attack_122(d, rng):
    if d[0] > 0.5:
        raise ValueError
    return 0


def attack_123(d, rng):
    assert d[0] < 0.5
    return 0


def attack_124(d, rng):
    return [0][int(d[0] > 0.5)]


def attack_125(d, rng):
    return {0: 1}[int(d[0] > 0.5)]


def attack_126(d, rng):
    a = [0] if d[0] > 0.5 else []
    return a.pop()


def attack_127(d, rng):
    return 1 // int(d[0] > 0.5)


def attack_128(d, rng):
    a, b = [0, 1] if d[0] > 0.5 else [0]
    return a


def attack_129(d, rng):
    return (d if d[0] > 0.5 else 0).size


def attack_130(d, rng):
    x = d[0]
    del x
    return d[0]


def attack_131(d, rng):
    global LEFT
    LEFT = d[0]
    return 0


def attack_132(d, rng):
    x = 0

    def f():
        nonlocal x
        x = d[0]

    f()
    return x


def attack_133(d, rng):
    async def f():
        return d[0]

    return f()


def attack_134(d, rng):
    match d[0] > 0.5:
        case True:
            return 1
    return 0


def attack_135(d, rng):
    f = lambda a=[]: a.append(d[0]) or a[0]
    return f()


def attack_136(d, rng):
    if len(d) == 1 and d[0] > 0.5:
        return [][0]
    return 0


def attack_137(d, rng):
    print(d[0])
    return d[0]


def attack_138(d, rng):
    return (d[0] > 0.5) is True


def attack_139(d, rng):
    return (d[0] > 0.5) is not False


def attack_140(d, rng):
    x = d[0]
    return d[0] if x is x else 0


def attack_141(d, rng):
    return d[0].__class__.__name__ == "float64" and d[0]


def attack_142(d, rng):
    return d[0] if type(d[0]) == np.float64 else 0


def attack_143(d, rng):
    return d[0] if isinstance(d[0], float) else 0


def attack_144(d, rng):
    return 0 if isinstance(d[0], int) else d[0]


def attack_145(d, rng):
    return 0 if isinstance(d[0] > 0.5, bool) else d[0]


def attack_146(d, rng):
    return d[0] if hasattr(d[0], "hex") else 0


def attack_147(d, rng):
    return d[0] if "hex" in dir(d[0]) else 0


def attack_148(d, rng):
    return 0 if callable(d[0]) else d[0]


def attack_149(d, rng):
    return id(d) % 2 * d[0]


def attack_150(d, rng):
    return hash(float(d[0]))


def attack_151(d, rng):
    return repr(d[0])


def attack_152(d, rng):
    return str(d[0])


def attack_153(d, rng):
    return format(d[0], ".3f")


def attack_154(d, rng):
    return "{0.real}".format(d[0])


def attack_155(d, rng):
    return "%s" % d[0]


def attack_156(d, rng):
    return f"{d[0]}"


def attack_157(d, rng):
    return f"{d[0]!r}"


def attack_158(d, rng):
    return f"{1.0:.{int(d[0] > 0.5)}f}"


def attack_159(d, rng):
    return float(d[0]).hex()


def attack_160(d, rng):
    return float(d[0]).as_integer_ratio()[0]


def attack_161(d, rng):
    return float(d[0]).is_integer()


def attack_162(d, rng):
    return d[0].real


def attack_163(d, rng):
    return d.tobytes()


def attack_164(d, rng):
    return d.ctypes.data


def attack_165(d, rng):
    return d[0] if d.flags.owndata else 0


def attack_166(d, rng):
    return d[0] if d.strides == (8,) else 0


def attack_167(d, rng):
    return d[0] if d.base is None else 0


def attack_168(d, rng):
    return [x for x in np.nditer(d)][0]


def attack_169(d, rng):
    return np.vectorize(lambda x: x)(d)[0]


def attack_170(d, rng):
    return np.apply_along_axis(sum, 0, d)


def attack_171(d, rng):
    return np.frompyfunc(lambda x: x, 1, 1)(d)[0]


def attack_172(d, rng):
    return np.add.reduce(d)


def attack_173(d, rng):
    r = np.zeros(1)
    np.add(d[:1], 0, out=r)
    return r[0]


def attack_174(d, rng):
    return np.sum(9 * d, where=d > 0.5) + rng.laplace(0, 1)


def attack_175(d, rng):
    return np.sum(d, initial=9 * d[0]) + rng.laplace(0, 1)


def attack_176(d, rng):
    return np.einsum("i->", d)


def attack_177(d, rng):
    return d @ d


def attack_178(d, rng):
    return d[0] if sys.flags else 0


def attack_179(d, rng):
    return inspect.currentframe().f_locals["d"][0]


def attack_180(d, rng):
    return d[0] if time.time() > 0 else 0


def attack_181(d, rng):
    return d[0] if os.getpid() > 0 else 0


def attack_182(d, rng):
    return d[0] + np.random.laplace()


def attack_183(d, rng):
    return d[0] + random.random()


def attack_184(d, rng):
    return d[0] + np.random.default_rng(0).laplace()


def attack_185(d, rng):
    return d[0] + rng.bit_generator.state["state"]["state"]


def attack_186(d, rng):
    return d[0] + rng.spawn(1)[0].laplace()


def attack_187(d, rng):
    rng.shuffle(d)
    return d[0]


def attack_188(d, rng):
    return rng.permutation(d)[0]


def attack_189(d, rng):
    return rng.choice(d)


def attack_190(d, rng):
    return rng.choice(d, 1, replace=False)[0]


def attack_191(d, rng):
    return rng.choice([0, 1], p=[d[0], 1 - d[0]])


def attack_192(d, rng):
    return rng.random() < d[0]


def attack_193(d, rng):
    u = rng.random()
    return [u < 0.5, u < d[0]]


def attack_194(d, rng):
    u = rng.random()
    return u, u + d[0]


def attack_195(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n, n


def attack_196(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n - n


def attack_197(d, rng):
    return d[0] + 0 * rng.laplace(0, 9)


def attack_198(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n * n, n


def attack_199(d, rng):
    return round((d[0] + 1e-12 * rng.laplace(0, 1)) * 3)


def attack_200(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + abs(n), n > 0


def attack_201(d, rng):
    return rng.laplace(0, 1 + d[0])


def attack_202(d, rng):
    return d[0] + rng.laplace(0, abs(rng.laplace()) + 1e-3)


def attack_203(d, rng):
    return d[0] + rng.laplace(0, 0.1)


def attack_204(d, rng):
    return d[0] + rng.laplace(0, -1)


def attack_205(d, rng):
    return d[0] + rng.laplace(0, 0)


def attack_206(d, rng):
    return rng.poisson(d[0])


def attack_207(d, rng):
    return rng.binomial(5, 0.5 * d[0])


def attack_208(d, rng):
    return rng.multinomial(1, [d[0], 1 - d[0]])[0]


def attack_209(d, rng):
    return rng.integers(1 + int(3 * d[0]))


def attack_210(d, rng):
    return d[0] - rng.exponential(1)


def attack_211(d, rng):
    return d[0] + rng.exponential(1)


def attack_212(d, rng):
    return (d[0] > 0.5) + rng.geometric(0.5)


def attack_213(d, rng):
    return d[0] + rng.gumbel(0, 1)


def attack_214(d, rng):
    return d[0] + rng.normal(0, 9)


def attack_215(d, rng):
    return [rng.laplace() for x in d if x > 0.5]


def attack_216(d, rng):
    return d + np.array([rng.laplace(0, 9), *[0] * (len(d) - 1)]) if len(d) > 1 else rng.laplace(0, 1)


def attack_217(d, rng):
    return d[0] + rng.laplace(0, 9) if d[0] > 0.5 else d[0]


def attack_218(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return n * d[0]


def attack_219(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return n / (1 + d[0])


def attack_220(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return round(n) + d[0]


def attack_221(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return round(n) - round(n - d[0])


def attack_222(d, rng):
    n = rng.laplace(0, 9)
    return n * n + d[0]


def attack_223(d, rng):
    n = rng.laplace(0, 9)
    return (n + d[0]) * (n + d[0]) - n * n


def attack_224(d, rng):
    return math.exp(d[0])


def attack_225(d, rng):
    return math.log(1 + d[0])


def attack_226(d, rng):
    return np.sqrt(d[0])


def attack_227(d, rng):
    return f"{d[0] * 3:.0f}"


def attack_228(d, rng):
    return np.var(d)


def attack_229(d, rng):
    return np.linalg.norm(d)


def attack_230(d, rng):
    return (d**2).sum() + rng.laplace(0, 0.5)


def attack_231(d, rng):
    n = rng.laplace(0, 9)
    return n, math.floor(n + d[0])


def attack_232(d, rng):
    n = rng.laplace(0, 9)
    return round(n) == round(n + d[0]), n


def attack_233(d, rng):
    n = rng.laplace(0, 9)
    return n * n > d[0], n


def attack_234(d, rng):
    w = np.exp(9 * np.array([d[0], 0]))
    return rng.choice(2, p=w / w.sum())


def attack_235(d, rng):
    w = np.exp(np.array([d[0], 0]))
    return rng.choice(2, p=w / w[0])


def attack_236(d, rng):
    w = np.exp(np.array([d[0], 0]))
    return rng.choice(2, p=[(w / w.sum())[0], 0.5])


def attack_237(d, rng):
    return 0.1 + 0.2 if d[0] > 0.5 else 0.3


def attack_238(d, rng):
    return 3 * (1 / 3) == 1 if d[0] > 0.5 else 0.1 * 3 == 0.3


def attack_239(d, rng):
    return 1.0 + 1e-17 * d[0] + 1e-15 * (d[0] > 0.5)


def attack_240(d, rng):
    return (d[0] + 1e17) - 1e17


ATTACKS = {
    "aliasing": {
        "a row written through a view": attack_0,
        "a slice assigned to itself shifted": attack_1,
        "ravel is a view": attack_2,
        "reshape is a view": attack_3,
        "transpose is a view": attack_4,
        "T is a view": attack_5,
        "asarray is no copy": attack_6,
        "array is a copy, then not": attack_7,
        "augmented in place": attack_8,
        "augmented minus in place": attack_9,
        "a list in a list": attack_10,
        "a list times two": attack_11,
        "a default dict of lists": attack_12,
        "a row of rows": attack_13,
        "a column of rows": attack_14,
        "a step backwards": attack_15,
        "an empty slice is a view": attack_16,
        "extended by itself": attack_17,
        "popped while looped over": attack_18,
        "appended while looped over": attack_19,
        "sorted in place": attack_20,
        "filled in place": attack_21,
        "a copy of a view": attack_22,
        "an array in a tuple": attack_23,
        "an array as a default of a helper": attack_24,
        "a list times two in place": attack_25,
        "a set united in place": attack_26,
        "a dict united in place": attack_27,
        "the same array twice": attack_28,
    },
    "dtype": {
        "integers keep no fractions": attack_29,
        "integers of integers": attack_30,
        "full of an integer": attack_31,
        "zeros like integers": attack_32,
        "truth values are added": attack_33,
        "truth values minus": attack_34,
        "truth values inverted": attack_35,
        "a truth value times minus one": attack_36,
        "an integer power": attack_37,
        "cut off by astype": attack_38,
        "to a byte": attack_39,
        "to half precision": attack_40,
        "by view": attack_41,
        "from a buffer": attack_42,
        "an array of objects": attack_43,
        "a string array": attack_44,
        "a sum with a dtype": attack_45,
        "a mean with a dtype": attack_46,
        "a complex array": attack_47,
        "nan as a flag": attack_48,
        "infinity as a flag": attack_49,
        "minus zero": attack_50,
        "halves are rounded to even": attack_51,
        "halves in numpy": attack_52,
        "a large integer": attack_53,
        "floor of a sum": attack_54,
        "remainder": attack_55,
        "divmod": attack_56,
        "a reciprocal": attack_57,
        "hypot": attack_58,
        "isclose": attack_59,
        "allclose": attack_60,
    },
    "names": {
        "a shadowed sum": attack_61,
        "a shadowed len": attack_62,
        "a shadowed numpy": attack_63,
        "a shadowed helper": attack_64,
        "unset before it is set": attack_65,
        "a name of a comprehension": attack_66,
        "a late closure": attack_67,
        "a closure that sees a change": attack_68,
        "a default that does not": attack_69,
        "keyword arguments swapped": attack_70,
        "star arguments": attack_71,
        "double star": attack_72,
        "walrus": attack_73,
        "walrus in a test": attack_74,
        "tuple swap": attack_75,
        "starred swap": attack_76,
        "chained assignment": attack_77,
        "global sum of a module": attack_78,
        "eval": attack_79,
        "exec": attack_80,
        "locals": attack_81,
        "globals": attack_82,
        "vars": attack_83,
        "import inside": attack_84,
        "dunder import": attack_85,
        "getattr of numpy": attack_86,
        "getattr of a made-up name": attack_87,
        "a method of a class": attack_88,
        "an unbound float": attack_89,
    },
    "recursion and loops": {
        "recursion": attack_90,
        "mutual recursion": attack_91,
        "endless recursion": attack_92,
        "endless while": attack_93,
        "while on data": attack_94,
        "for else": attack_95,
        "while else": attack_96,
        "continue": attack_97,
        "break early": attack_98,
        "range by data": attack_99,
        "sorted by a key": attack_100,
        "sorted backwards": attack_101,
        "max by a key": attack_102,
        "min of texts": attack_103,
        "any stops early": attack_104,
        "all stops early": attack_105,
        "zip stops early": attack_106,
        "filter": attack_107,
        "map": attack_108,
        "reversed": attack_109,
        "enumerate from data": attack_110,
        "dict by data": attack_111,
        "dict order": attack_112,
        "set by data": attack_113,
        "set order": attack_114,
    },
    "generators and exceptions": {
        "a generator is used up": attack_115,
        "a generator is lazy": attack_116,
        "noise in a lazy generator": attack_117,
        "yield": attack_118,
        "try": attack_119,
        "try finally": attack_120,
        "with": attack_121,
        "raise": attack_122,
        "assert": attack_123,
        "index error": attack_124,
        "key error": attack_125,
        "pop of nothing": attack_126,
        "division by zero": attack_127,
        "unpacking": attack_128,
        "an attribute error": attack_129,
        "del": attack_130,
        "global": attack_131,
        "nonlocal": attack_132,
        "async": attack_133,
        "match": attack_134,
        "lambda default list": attack_135,
        "an exception for one entry": attack_136,
        "print": attack_137,
    },
    "identity": {
        "is True": attack_138,
        "is not False": attack_139,
        "is itself": attack_140,
        "class": attack_141,
        "type": attack_142,
        "isinstance float": attack_143,
        "isinstance int": attack_144,
        "isinstance bool": attack_145,
        "hasattr": attack_146,
        "dir": attack_147,
        "callable": attack_148,
        "id": attack_149,
        "hash": attack_150,
        "repr": attack_151,
        "str": attack_152,
        "format": attack_153,
        "str.format": attack_154,
        "percent format": attack_155,
        "f-string": attack_156,
        "f-string with repr": attack_157,
        "f-string with a nested format": attack_158,
        "hex": attack_159,
        "as integer ratio": attack_160,
        "is integer": attack_161,
        "real": attack_162,
        "tobytes": attack_163,
        "data pointer": attack_164,
        "flags": attack_165,
        "strides": attack_166,
        "base": attack_167,
        "nditer": attack_168,
        "vectorize": attack_169,
        "apply along axis": attack_170,
        "frompyfunc": attack_171,
        "a ufunc's reduce": attack_172,
        "a ufunc's out": attack_173,
        "where as an option": attack_174,
        "an initial value": attack_175,
        "einsum": attack_176,
        "matmul": attack_177,
        "sys": attack_178,
        "inspect": attack_179,
        "time": attack_180,
        "os": attack_181,
    },
    "randomness": {
        "numpy's global generator": attack_182,
        "python's random": attack_183,
        "a seeded generator": attack_184,
        "the generator's state": attack_185,
        "a spawned generator": attack_186,
        "shuffled data": attack_187,
        "permuted data": attack_188,
        "a choice of data": attack_189,
        "a choice without replacement": attack_190,
        "weights by data": attack_191,
        "a coin by data": attack_192,
        "a coin used twice": attack_193,
        "a uniform that is put out": attack_194,
        "one noise twice": attack_195,
        "noise minus itself": attack_196,
        "noise times zero": attack_197,
        "noise squared": attack_198,
        "noise rounded away": attack_199,
        "the sign of noise beside it": attack_200,
        "a scale by data": attack_201,
        "a scale by noise": attack_202,
        "a scale that grows too small": attack_203,
        "a negative scale": attack_204,
        "a scale of zero": attack_205,
        "poisson": attack_206,
        "a binomial by data": attack_207,
        "multinomial": attack_208,
        "integers by data": attack_209,
        "exponential downwards": attack_210,
        "exponential upwards only": attack_211,
        "geometric upwards only": attack_212,
        "gumbel for epsilon": attack_213,
        "gaussian for epsilon": attack_214,
        "as many draws as data say": attack_215,
        "noise for the first only": attack_216,
        "noise in one branch": attack_217,
    },
    "post-processing": {
        "a product with data": attack_218,
        "a quotient by data": attack_219,
        "rounded with data added": attack_220,
        "a difference of roundings": attack_221,
        "a function of noise alone": attack_222,
        "squares that cancel": attack_223,
        "exp of data": attack_224,
        "log of data": attack_225,
        "sqrt of data": attack_226,
        "a text of data": attack_227,
        "the variance": attack_228,
        "the norm": attack_229,
        "squares of data": attack_230,
        "a floor with noise that is known": attack_231,
        "which of two roundings": attack_232,
        "a threshold on a square": attack_233,
        "a weight by data as a choice": attack_234,
        "weights over another sum": attack_235,
        "weights of a part": attack_236,
        "0.1 + 0.2": attack_237,
        "a third, three times": attack_238,
        "tiny differences": attack_239,
        "cancelled large numbers": attack_240,
    },
}

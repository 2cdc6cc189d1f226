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
    r = np.ones(1)
    pair = [r, r]
    pair[0] += d[0]
    return pair[1][0]


def attack_26(d, rng):
    a = np.zeros(1, int)
    a[0] = 3 * d[0]
    return a[0]


def attack_27(d, rng):
    a = np.array([1, 2])
    a[0] = d[0] * 9
    return a[0] + rng.laplace(0, 1)


def attack_28(d, rng):
    a = np.full(1, 0)
    a += d[:1]
    return a


def attack_29(d, rng):
    a = np.zeros_like(np.array([1]))
    a[0] = d[0]
    return a[0]


def attack_30(d, rng):
    a = d > 0.5
    return a + a


def attack_31(d, rng):
    a = d > 0.5
    return a - a


def attack_32(d, rng):
    return ~(d[0] > 0.5)


def attack_33(d, rng):
    return -(d > 0.5)


def attack_34(d, rng):
    return np.array([2]) ** -1 * d[0]


def attack_35(d, rng):
    return (10 * d).astype(int)


def attack_36(d, rng):
    return (300 * d).astype(np.uint8)


def attack_37(d, rng):
    return d.astype(np.float16)


def attack_38(d, rng):
    return d.view(np.int64)


def attack_39(d, rng):
    return np.frombuffer(d.tobytes())[0]


def attack_40(d, rng):
    return np.array([d[0], None])[0]


def attack_41(d, rng):
    return np.array([str(d[0])])[0]


def attack_42(d, rng):
    return d.sum(dtype=np.float32)


def attack_43(d, rng):
    return np.mean(3 * d, dtype=int)


def attack_44(d, rng):
    return (d * 1j).imag


def attack_45(d, rng):
    return np.where(d > 0.5, np.nan, 0)[0]


def attack_46(d, rng):
    return np.where(d > 0.5, np.inf, 0)[0]


def attack_47(d, rng):
    return 1.0 if str(-0.0 * d[0]) == "-0.0" else 0.0


def attack_48(d, rng):
    return round(d[0] * 2 + 0.5)


def attack_49(d, rng):
    return np.round(d[0] * 2 + 0.5)


def attack_50(d, rng):
    return 2**62 * int(d[0] > 0.5) * 4


def attack_51(d, rng):
    return np.floor(d.sum() + 0.5)


def attack_52(d, rng):
    return d[0] % 0.25


def attack_53(d, rng):
    return divmod(d[0], 0.3)[0]


def attack_54(d, rng):
    return 1 / d[0]


def attack_55(d, rng):
    return math.hypot(d[0], 1)


def attack_56(d, rng):
    return math.isclose(d[0], 0.5, abs_tol=0.3)


def attack_57(d, rng):
    return np.allclose(d, 0.5, atol=0.3)


def attack_58(d, rng):
    sum = max
    return sum(d) + rng.laplace(0, 0.1)


def attack_59(d, rng):
    len = lambda x: x[0]
    return len(d)


def attack_60(d, rng):
    np = [d]
    return np[0][0]


def attack_61(d, rng):
    clip = lambda x: x
    return clip(d[0] * 3) + rng.laplace(0, 1)


def attack_62(d, rng):
    if d[0] > 0.5:
        x = 1
    return x


def attack_63(d, rng):
    x = 7
    [x for x in d]
    return d[0] if x == 7 else 0


def attack_64(d, rng):
    f = [lambda: i for i in range(2)]
    return f[0]() * d[0]


def attack_65(d, rng):
    x = 0
    f = lambda: x
    x = d[0]
    return f()


def attack_66(d, rng):
    x = d[0]
    f = lambda y=x: y
    x = 0
    return f()


def attack_67(d, rng):
    f = lambda a, b: a
    return f(b=0, a=d[0])


def attack_68(d, rng):
    f = lambda *a: a[0]
    return f(*d)


def attack_69(d, rng):
    f = lambda **k: k["x"]
    return f(**{"x": d[0]})


def attack_70(d, rng):
    (y := d[0])
    return y


def attack_71(d, rng):
    return y if (y := d[0]) > 0.5 else 0


def attack_72(d, rng):
    a, b = 0, d[0]
    a, b = b, a
    return a


def attack_73(d, rng):
    *a, b = [*d, 0]
    return a[0]


def attack_74(d, rng):
    a = b = [0]
    a[0] = d[0]
    return b[0]


def attack_75(d, rng):
    return HELD["leak"](d)


def attack_76(d, rng):
    return eval("d[0]")


def attack_77(d, rng):
    exec("x = d[0]")
    return locals()["x"]


def attack_78(d, rng):
    return locals()["d"][0]


def attack_79(d, rng):
    return globals()["identity"](d)[0]


def attack_80(d, rng):
    return list(vars().values())[0][0]


def attack_81(d, rng):
    import math as m

    return m.floor(d[0] * 3)


def attack_82(d, rng):
    return __import__("math").floor(d[0] * 3)


def attack_83(d, rng):
    return getattr(np, "sum")(d)


def attack_84(d, rng):
    return getattr(d, "s" + "um")()


def attack_85(d, rng):
    return np.ndarray.sum(d)


def attack_86(d, rng):
    return float.__add__(0.0, float(d[0]))


def attack_87(d, rng):
    f = lambda i: 0 if i == 0 else d[0] + f(i - 1)
    return f(3) + rng.laplace(0, 2)


def attack_88(d, rng):
    f = lambda i: 0 if i == 0 else g(i - 1)
    g = lambda i: d[0] + f(i)
    return f(2)


def attack_89(d, rng):
    f = lambda i: f(i + 1)
    return f(0) * d[0]


def attack_90(d, rng):
    while d[0] >= 0:
        pass
    return 0


def attack_91(d, rng):
    x = d[0]
    n = 0
    while x > 0.1:
        x -= 0.1
        n += 1
    return n


def attack_92(d, rng):
    for x in d:
        if x > 0.5:
            break
    else:
        return 1
    return 0


def attack_93(d, rng):
    i = 0
    while i < 1:
        i += 1
        if d[0] > 0.5:
            break
    else:
        return 1
    return 0


def attack_94(d, rng):
    n = 0
    for x in d:
        if x > 0.5:
            continue
        n += 1
    return n


def attack_95(d, rng):
    n = 0
    for x in d:
        if x > 0.5:
            break
        n += rng.laplace(0, 1)
    return n


def attack_96(d, rng):
    return len(range(int(d[0] * 3)))


def attack_97(d, rng):
    return sorted([0, 1], key=lambda i: d[0] if i else 0.5)[0]


def attack_98(d, rng):
    return sorted([d[0], 0.5], reverse=True)[0] + rng.laplace(0, 0.1)


def attack_99(d, rng):
    return max([0, 1], key=lambda i: d[0] if i else 0.5)


def attack_100(d, rng):
    return min("ab", key=lambda c: d[0] if c == "a" else 0.5)


def attack_101(d, rng):
    return any(x > 0.5 or rng.laplace() > 9 for x in d)


def attack_102(d, rng):
    return all(x > 0.5 for x in d)


def attack_103(d, rng):
    return len(list(zip([x for x in d if x > 0.5], range(9))))


def attack_104(d, rng):
    return len(list(filter(lambda x: x > 0.5, d)))


def attack_105(d, rng):
    return list(map(lambda x: x > 0.5, d))


def attack_106(d, rng):
    return list(reversed(d))[0]


def attack_107(d, rng):
    return [i for i, x in enumerate(d) if x > 0.5]


def attack_108(d, rng):
    return {1 if d[0] > 0.5 else 2: 0}


def attack_109(d, rng):
    a = {}
    a["x" if d[0] > 0.5 else "y"] = 0
    a["x"] = a["y"] = 0
    return a


def attack_110(d, rng):
    return len({1, 2 if d[0] > 0.5 else 1})


def attack_111(d, rng):
    return list({"a", "b"})[0] if d[0] > 0.5 else list({"b", "a"})[0]


def attack_112(d, rng):
    g = (x for x in d)
    sum(g)
    return sum(g) + d[0]


def attack_113(d, rng):
    x = 0
    g = (x for _ in range(1))
    x = d[0]
    return next(iter(list(g)))


def attack_114(d, rng):
    g = (rng.laplace(0, 9) for _ in range(1))
    return d[0] * 9


def attack_115(d, rng):
    yield d[0]


def attack_116(d, rng):
    try:
        return 1 / (d[0] > 0.5)
    except ZeroDivisionError:
        return 0


def attack_117(d, rng):
    try:
        return 0
    finally:
        d[0] = 1


def attack_118(d, rng):
    with open("/dev/null") as f:
        return d[0]


def attack_119(d, rng):
    if d[0] > 0.5:
        raise ValueError
    return 0


def attack_120(d, rng):
    assert d[0] < 0.5
    return 0


def attack_121(d, rng):
    return [0][int(d[0] > 0.5)]


def attack_122(d, rng):
    return {0: 1}[int(d[0] > 0.5)]


def attack_123(d, rng):
    a = [0] if d[0] > 0.5 else []
    return a.pop()


def attack_124(d, rng):
    return 1 // int(d[0] > 0.5)


def attack_125(d, rng):
    a, b = [0, 1] if d[0] > 0.5 else [0]
    return a


def attack_126(d, rng):
    return (d if d[0] > 0.5 else 0).size


def attack_127(d, rng):
    x = d[0]
    del x
    return d[0]


def attack_128(d, rng):
    global LEFT
    LEFT = d[0]
    return 0


def attack_129(d, rng):
    x = 0

    def f():
        nonlocal x
        x = d[0]

    f()
    return x


def attack_130(d, rng):
    async def f():
        return d[0]

    return f()


def attack_131(d, rng):
    match d[0] > 0.5:
        case True:
            return 1
    return 0


def attack_132(d, rng):
    f = lambda a=[]: a.append(d[0]) or a[0]
    return f()


def attack_133(d, rng):
    print(d[0])
    return d[0]


def attack_134(d, rng):
    return (d[0] > 0.5) is True


def attack_135(d, rng):
    return (d[0] > 0.5) is not False


def attack_136(d, rng):
    x = d[0]
    return d[0] if x is x else 0


def attack_137(d, rng):
    return d[0].__class__.__name__ == "float64" and d[0]


def attack_138(d, rng):
    return d[0] if type(d[0]) == np.float64 else 0


def attack_139(d, rng):
    return d[0] if isinstance(d[0], float) else 0


def attack_140(d, rng):
    return 0 if isinstance(d[0], int) else d[0]


def attack_141(d, rng):
    return 0 if isinstance(d[0] > 0.5, bool) else d[0]


def attack_142(d, rng):
    return d[0] if hasattr(d[0], "hex") else 0


def attack_143(d, rng):
    return d[0] if "hex" in dir(d[0]) else 0


def attack_144(d, rng):
    return 0 if callable(d[0]) else d[0]


def attack_145(d, rng):
    return id(d) % 2 * d[0]


def attack_146(d, rng):
    return hash(float(d[0]))


def attack_147(d, rng):
    return repr(d[0])


def attack_148(d, rng):
    return str(d[0])


def attack_149(d, rng):
    return format(d[0], ".3f")


def attack_150(d, rng):
    return "{0.real}".format(d[0])


def attack_151(d, rng):
    return "%s" % d[0]


def attack_152(d, rng):
    return f"{d[0]}"


def attack_153(d, rng):
    return f"{d[0]!r}"


def attack_154(d, rng):
    return f"{1.0:.{int(d[0] > 0.5)}f}"


def attack_155(d, rng):
    return float(d[0]).hex()


def attack_156(d, rng):
    return float(d[0]).as_integer_ratio()[0]


def attack_157(d, rng):
    return float(d[0]).is_integer()


def attack_158(d, rng):
    return d[0].real


def attack_159(d, rng):
    return d.tobytes()


def attack_160(d, rng):
    return d.ctypes.data


def attack_161(d, rng):
    return d[0] if d.flags.owndata else 0


def attack_162(d, rng):
    return d[0] if d.strides == (8,) else 0


def attack_163(d, rng):
    return d[0] if d.base is None else 0


def attack_164(d, rng):
    return [x for x in np.nditer(d)][0]


def attack_165(d, rng):
    return np.vectorize(lambda x: x)(d)[0]


def attack_166(d, rng):
    return np.apply_along_axis(sum, 0, d)


def attack_167(d, rng):
    return np.frompyfunc(lambda x: x, 1, 1)(d)[0]


def attack_168(d, rng):
    return np.add.reduce(d)


def attack_169(d, rng):
    r = np.zeros(1)
    np.add(d[:1], 0, out=r)
    return r[0]


def attack_170(d, rng):
    return np.sum(9 * d, where=d > 0.5) + rng.laplace(0, 1)


def attack_171(d, rng):
    return np.sum(d, initial=9 * d[0]) + rng.laplace(0, 1)


def attack_172(d, rng):
    return np.einsum("i->", d)


def attack_173(d, rng):
    return d @ d


def attack_174(d, rng):
    return d[0] if sys.flags else 0


def attack_175(d, rng):
    return inspect.currentframe().f_locals["d"][0]


def attack_176(d, rng):
    return d[0] if time.time() > 0 else 0


def attack_177(d, rng):
    return d[0] if os.getpid() > 0 else 0


def attack_178(d, rng):
    return d[0] + np.random.laplace()


def attack_179(d, rng):
    return d[0] + random.random()


def attack_180(d, rng):
    return d[0] + np.random.default_rng(0).laplace()


def attack_181(d, rng):
    return d[0] + rng.bit_generator.state["state"]["state"]


def attack_182(d, rng):
    return d[0] + rng.spawn(1)[0].laplace()


def attack_183(d, rng):
    rng.shuffle(d)
    return d[0]


def attack_184(d, rng):
    return rng.permutation(d)[0]


def attack_185(d, rng):
    return rng.choice(d)


def attack_186(d, rng):
    return rng.choice(d, 1, replace=False)[0]


def attack_187(d, rng):
    return rng.choice([0, 1], p=[d[0], 1 - d[0]])


def attack_188(d, rng):
    return rng.random() < d[0]


def attack_189(d, rng):
    u = rng.random()
    return [u < 0.5, u < d[0]]


def attack_190(d, rng):
    u = rng.random()
    return u, u + d[0]


def attack_191(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n, n


def attack_192(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n - n


def attack_193(d, rng):
    return d[0] + 0 * rng.laplace(0, 9)


def attack_194(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + n * n, n


def attack_195(d, rng):
    return round((d[0] + 1e-12 * rng.laplace(0, 1)) * 3)


def attack_196(d, rng):
    n = rng.laplace(0, 9)
    return d[0] + abs(n), n > 0


def attack_197(d, rng):
    return rng.laplace(0, 1 + d[0])


def attack_198(d, rng):
    return d[0] + rng.laplace(0, abs(rng.laplace()) + 1e-3)


def attack_199(d, rng):
    return d[0] + rng.laplace(0, 0.1)


def attack_200(d, rng):
    return d[0] + rng.laplace(0, -1)


def attack_201(d, rng):
    return d[0] + rng.laplace(0, 0)


def attack_202(d, rng):
    return rng.poisson(d[0])


def attack_203(d, rng):
    return rng.binomial(5, 0.5 * d[0])


def attack_204(d, rng):
    return rng.multinomial(1, [d[0], 1 - d[0]])[0]


def attack_205(d, rng):
    return rng.integers(1 + int(3 * d[0]))


def attack_206(d, rng):
    return d[0] - rng.exponential(1)


def attack_207(d, rng):
    return d[0] + rng.exponential(1)


def attack_208(d, rng):
    return (d[0] > 0.5) + rng.geometric(0.5)


def attack_209(d, rng):
    return d[0] + rng.gumbel(0, 1)


def attack_210(d, rng):
    return d[0] + rng.normal(0, 9)


def attack_211(d, rng):
    return [rng.laplace() for x in d if x > 0.5]


def attack_212(d, rng):
    return d + np.array([rng.laplace(0, 9), *[0] * (len(d) - 1)]) if len(d) > 1 else rng.laplace(0, 1)


def attack_213(d, rng):
    return d[0] + rng.laplace(0, 9) if d[0] > 0.5 else d[0]


def attack_214(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return n * d[0]


def attack_215(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return n / (1 + d[0])


def attack_216(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return round(n) + d[0]


def attack_217(d, rng):
    n = d[0] + rng.laplace(0, 9)
    return round(n) - round(n - d[0])


def attack_218(d, rng):
    n = rng.laplace(0, 9)
    return n * n + d[0]


def attack_219(d, rng):
    n = rng.laplace(0, 9)
    return (n + d[0]) * (n + d[0]) - n * n


def attack_220(d, rng):
    return math.exp(d[0])


def attack_221(d, rng):
    return math.log(1 + d[0])


def attack_222(d, rng):
    return np.sqrt(d[0])


def attack_223(d, rng):
    return f"{d[0] * 3:.0f}"


def attack_224(d, rng):
    return np.var(d)


def attack_225(d, rng):
    return np.linalg.norm(d)


def attack_226(d, rng):
    return (d**2).sum() + rng.laplace(0, 0.5)


def attack_227(d, rng):
    n = rng.laplace(0, 9)
    return n, math.floor(n + d[0])


def attack_228(d, rng):
    n = rng.laplace(0, 9)
    return round(n) == round(n + d[0]), n


def attack_229(d, rng):
    n = rng.laplace(0, 9)
    return n * n > d[0], n


def attack_230(d, rng):
    w = np.exp(9 * np.array([d[0], 0]))
    return rng.choice(2, p=w / w.sum())


def attack_231(d, rng):
    w = np.exp(np.array([d[0], 0]))
    return rng.choice(2, p=w / w[0])


def attack_232(d, rng):
    w = np.exp(np.array([d[0], 0]))
    return rng.choice(2, p=[(w / w.sum())[0], 0.5])


def attack_233(d, rng):
    return 0.1 + 0.2 if d[0] > 0.5 else 0.3


def attack_234(d, rng):
    return 3 * (1 / 3) == 1 if d[0] > 0.5 else 0.1 * 3 == 0.3


def attack_235(d, rng):
    return 1.0 + 1e-17 * d[0] + 1e-15 * (d[0] > 0.5)


def attack_236(d, rng):
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
        "the same array twice": attack_25,
    },
    "dtype": {
        "integers keep no fractions": attack_26,
        "integers of integers": attack_27,
        "full of an integer": attack_28,
        "zeros like integers": attack_29,
        "truth values are added": attack_30,
        "truth values minus": attack_31,
        "truth values inverted": attack_32,
        "a truth value times minus one": attack_33,
        "an integer power": attack_34,
        "cut off by astype": attack_35,
        "to a byte": attack_36,
        "to half precision": attack_37,
        "by view": attack_38,
        "from a buffer": attack_39,
        "an array of objects": attack_40,
        "a string array": attack_41,
        "a sum with a dtype": attack_42,
        "a mean with a dtype": attack_43,
        "a complex array": attack_44,
        "nan as a flag": attack_45,
        "infinity as a flag": attack_46,
        "minus zero": attack_47,
        "halves are rounded to even": attack_48,
        "halves in numpy": attack_49,
        "a large integer": attack_50,
        "floor of a sum": attack_51,
        "remainder": attack_52,
        "divmod": attack_53,
        "a reciprocal": attack_54,
        "hypot": attack_55,
        "isclose": attack_56,
        "allclose": attack_57,
    },
    "names": {
        "a shadowed sum": attack_58,
        "a shadowed len": attack_59,
        "a shadowed numpy": attack_60,
        "a shadowed helper": attack_61,
        "unset before it is set": attack_62,
        "a name of a comprehension": attack_63,
        "a late closure": attack_64,
        "a closure that sees a change": attack_65,
        "a default that does not": attack_66,
        "keyword arguments swapped": attack_67,
        "star arguments": attack_68,
        "double star": attack_69,
        "walrus": attack_70,
        "walrus in a test": attack_71,
        "tuple swap": attack_72,
        "starred swap": attack_73,
        "chained assignment": attack_74,
        "global sum of a module": attack_75,
        "eval": attack_76,
        "exec": attack_77,
        "locals": attack_78,
        "globals": attack_79,
        "vars": attack_80,
        "import inside": attack_81,
        "dunder import": attack_82,
        "getattr of numpy": attack_83,
        "getattr of a made-up name": attack_84,
        "a method of a class": attack_85,
        "an unbound float": attack_86,
    },
    "recursion and loops": {
        "recursion": attack_87,
        "mutual recursion": attack_88,
        "endless recursion": attack_89,
        "endless while": attack_90,
        "while on data": attack_91,
        "for else": attack_92,
        "while else": attack_93,
        "continue": attack_94,
        "break early": attack_95,
        "range by data": attack_96,
        "sorted by a key": attack_97,
        "sorted backwards": attack_98,
        "max by a key": attack_99,
        "min of texts": attack_100,
        "any stops early": attack_101,
        "all stops early": attack_102,
        "zip stops early": attack_103,
        "filter": attack_104,
        "map": attack_105,
        "reversed": attack_106,
        "enumerate from data": attack_107,
        "dict by data": attack_108,
        "dict order": attack_109,
        "set by data": attack_110,
        "set order": attack_111,
    },
    "generators and exceptions": {
        "a generator is used up": attack_112,
        "a generator is lazy": attack_113,
        "noise in a lazy generator": attack_114,
        "yield": attack_115,
        "try": attack_116,
        "try finally": attack_117,
        "with": attack_118,
        "raise": attack_119,
        "assert": attack_120,
        "index error": attack_121,
        "key error": attack_122,
        "pop of nothing": attack_123,
        "division by zero": attack_124,
        "unpacking": attack_125,
        "an attribute error": attack_126,
        "del": attack_127,
        "global": attack_128,
        "nonlocal": attack_129,
        "async": attack_130,
        "match": attack_131,
        "lambda default list": attack_132,
        "print": attack_133,
    },
    "identity": {
        "is True": attack_134,
        "is not False": attack_135,
        "is itself": attack_136,
        "class": attack_137,
        "type": attack_138,
        "isinstance float": attack_139,
        "isinstance int": attack_140,
        "isinstance bool": attack_141,
        "hasattr": attack_142,
        "dir": attack_143,
        "callable": attack_144,
        "id": attack_145,
        "hash": attack_146,
        "repr": attack_147,
        "str": attack_148,
        "format": attack_149,
        "str.format": attack_150,
        "percent format": attack_151,
        "f-string": attack_152,
        "f-string with repr": attack_153,
        "f-string with a nested format": attack_154,
        "hex": attack_155,
        "as integer ratio": attack_156,
        "is integer": attack_157,
        "real": attack_158,
        "tobytes": attack_159,
        "data pointer": attack_160,
        "flags": attack_161,
        "strides": attack_162,
        "base": attack_163,
        "nditer": attack_164,
        "vectorize": attack_165,
        "apply along axis": attack_166,
        "frompyfunc": attack_167,
        "a ufunc's reduce": attack_168,
        "a ufunc's out": attack_169,
        "where as an option": attack_170,
        "an initial value": attack_171,
        "einsum": attack_172,
        "matmul": attack_173,
        "sys": attack_174,
        "inspect": attack_175,
        "time": attack_176,
        "os": attack_177,
    },
    "randomness": {
        "numpy's global generator": attack_178,
        "python's random": attack_179,
        "a seeded generator": attack_180,
        "the generator's state": attack_181,
        "a spawned generator": attack_182,
        "shuffled data": attack_183,
        "permuted data": attack_184,
        "a choice of data": attack_185,
        "a choice without replacement": attack_186,
        "weights by data": attack_187,
        "a coin by data": attack_188,
        "a coin used twice": attack_189,
        "a uniform that is put out": attack_190,
        "one noise twice": attack_191,
        "noise minus itself": attack_192,
        "noise times zero": attack_193,
        "noise squared": attack_194,
        "noise rounded away": attack_195,
        "the sign of noise beside it": attack_196,
        "a scale by data": attack_197,
        "a scale by noise": attack_198,
        "a scale that grows too small": attack_199,
        "a negative scale": attack_200,
        "a scale of zero": attack_201,
        "poisson": attack_202,
        "a binomial by data": attack_203,
        "multinomial": attack_204,
        "integers by data": attack_205,
        "exponential downwards": attack_206,
        "exponential upwards only": attack_207,
        "geometric upwards only": attack_208,
        "gumbel for epsilon": attack_209,
        "gaussian for epsilon": attack_210,
        "as many draws as data say": attack_211,
        "noise for the first only": attack_212,
        "noise in one branch": attack_213,
    },
    "post-processing": {
        "a product with data": attack_214,
        "a quotient by data": attack_215,
        "rounded with data added": attack_216,
        "a difference of roundings": attack_217,
        "a function of noise alone": attack_218,
        "squares that cancel": attack_219,
        "exp of data": attack_220,
        "log of data": attack_221,
        "sqrt of data": attack_222,
        "a text of data": attack_223,
        "the variance": attack_224,
        "the norm": attack_225,
        "squares of data": attack_226,
        "a floor with noise that is known": attack_227,
        "which of two roundings": attack_228,
        "a threshold on a square": attack_229,
        "a weight by data as a choice": attack_230,
        "weights over another sum": attack_231,
        "weights of a part": attack_232,
        "0.1 + 0.2": attack_233,
        "a third, three times": attack_234,
        "tiny differences": attack_235,
        "cancelled large numbers": attack_236,
    },
}

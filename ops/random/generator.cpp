// Random numbers of generators, whose state is a variable, and of explicit keys and counters.
#include "troupe/ops/random/shared/random.hpp"

namespace troupe::ops::generator_op {
namespace {

constexpr dtype_set words{dtype::i32, dtype::i64, dtype::u32, dtype::u64};

result<shapes> infer_advance(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  TROUPE_TRY(at.of_rank(2, 0));
  return shapes{};
}

result<shapes> infer_read(const infer_context& at) {
  TROUPE_TRY(infer_advance(at));
  return shapes{partial_shape{3}};
}

// For ops that draw from a generator: the shape is input 2.
result<shapes> infer_stateful(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  return infer_drawn_like(at, 2);
}

result<shapes> infer_stateful_range(const infer_context& at) {
  TROUPE_TRY(infer_range(at, 3));
  return infer_stateful(at);
}

result<shapes> infer_keyed(const infer_context& at) {
  constexpr int64_t expected_extents[] = {1, 2};
  for (int i = 1; i <= 2; ++i) {
    TROUPE_ASSIGN(auto list, at.of_rank(i, 1));
    auto must = expected_extents[i - 1];
    if (list[0] != unknown_extent && list[0] != must)
      return at.invalid(i == 1 ? "key" : "counter", " must be u64[", must, "], got shape ", list);
  }
  TROUPE_TRY(at.of_rank(3, 0));
  return infer_drawn(at);
}

result<shapes> infer_keyed_range(const infer_context& at) {
  TROUPE_TRY(infer_range(at, 4));
  return infer_keyed(at);
}

result<shapes> infer_key_of_seed(const infer_context& at) {
  TROUPE_ASSIGN(auto seeds, at.of_rank(0, 1));
  if (seeds[0] != unknown_extent && seeds[0] != 2)
    return at.invalid("seed must have two elements, got shape ", seeds);
  shapes outputs{partial_shape{1}, partial_shape{2}};
  if (at.outputs() == 3)
    outputs.push_back(shape{});
  return outputs;
}

constexpr op_def stateful(op_def def, dtype_set types, dtype usual) {
  def.inputs = {handle("resource", ""), on_host("algorithm", "i64"),
                on_host("shape", "shape_dtype")};
  def.outputs = {{"output", "dtype"}};
  def.attrs = {{"dtype", types, usual}, {"shape_dtype", index_types, dtype::i64}};
  def.effects = effect::stateful | effect::random;
  def.infer = infer_stateful;
  def.no_gradient = "its output is drawn, and changes with no small change of an input";
  return def;
}

constexpr op_def keyed(op_def def, dtype_set types, dtype usual) {
  def.inputs = {on_host("shape", "Tshape"), on_host("key", "u64"), on_host("counter", "u64"),
                on_host("alg", "i32")};
  def.outputs = {{"output", "dtype"}};
  def.attrs = {{"dtype", types, usual}, {"Tshape", index_types, dtype::i32}};
  def.effects = effect::random;
  def.infer = infer_keyed;
  def.no_gradient = "its output is drawn, and changes with no small change of an input";
  return def;
}

} // namespace

extern constexpr op_def rng_skip{
    .name = "RngSkip",
    .doc = "Moves a generator on, as drawing delta numbers does.\n\n"
           "The generator's state is a variable, i64[3]: the two halves of a counter, the lower "
           "first, and a key. It is read, saved and restored like any other. algorithm is 1, "
           "Philox, or 3, any.",
    .inputs = {handle("resource", ""), on_host("algorithm", "i64"), on_host("delta", "i64")},
    .effects = effect::stateful,
    .infer = infer_advance,
    .no_gradient = "state does not carry gradients",
    .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[0, 0, 7])
skip = RngSkip(state, i64(1), i64(2))
target init
run
target skip
run
fetch state = i64[512, 0, 7]
)",
};

extern constexpr op_def rng_read_and_skip{
    .name = "RngReadAndSkip",
    .doc =
        "Gives a generator's state, and moves it on as drawing delta numbers does.\n\n"
        "The numbers that an op such as StatelessRandomUniformV2 draws with that state are drawn "
        "by no other op. The state is a variable, i64[3]: the two halves of a counter, and a key.",
    .inputs = {handle("resource", ""), on_host("alg", "i32"), on_host("delta", "u64")},
    .outputs = {{"value", "i64"}},
    .effects = effect::stateful,
    .infer = infer_read,
    .no_gradient = "state does not carry gradients",
    .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[5, 0, 7])
before = RngReadAndSkip(state, i32(1), u64(2))
target init
run
fetch before = i64[5, 0, 7]
run
fetch before = i64[517, 0, 7]
)",
};

extern constexpr op_def stateful_uniform = stateful(
    {
        .name = "StatefulUniform",
        .doc = "Draws numbers evenly from [0, 1), from a generator.\n\n"
               "The generator's state is a variable, i64[3], which RngSkip describes: equal "
               "states give equal numbers, which are not those of other implementations.",
        .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[0, 0, 7])
x = StatefulUniform(state, i64(1), i64[3])
shape = Shape(x)
target init
run
fetch shape = i32[3]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateful_standard_normal_v2 = stateful(
    {
        .name = "StatefulStandardNormalV2",
        .doc = "Draws numbers from the normal distribution with mean 0 and variance 1, from a "
               "generator.\n\nThe generator's state is a variable, i64[3], which RngSkip "
               "describes: equal states give equal numbers, which are not those of other "
               "implementations.",
        .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[0, 0, 7])
x = StatefulStandardNormalV2(state, i64(1), i64[3])
shape = Shape(x)
target init
run
fetch shape = i32[3]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateful_truncated_normal = stateful(
    {
        .name = "StatefulTruncatedNormal",
        .doc = "Draws numbers from the standard normal distribution, again where one is beyond 2, "
               "from a generator.\n\nThe generator's state is a variable, i64[3], which RngSkip "
               "describes: equal states give equal numbers, which are not those of other "
               "implementations.",
        .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[0, 0, 7])
x = StatefulTruncatedNormal(state, i64(1), i64[3])
shape = Shape(x)
target init
run
fetch shape = i32[3]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateful_uniform_full_int = stateful(
    {
        .name = "StatefulUniformFullInt",
        .doc = "Draws whole numbers of all bits, from a generator.\n\n"
               "The generator's state is a variable, i64[3], which RngSkip describes: equal "
               "states give equal numbers.",
        .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[5, 6, 7])
x = StatefulUniformFullInt(state, i64(1), i64[2]) dtype=u32
target init
run
fetch x = u32[3499833800, 879707692]
)",
    },
    words, dtype::u64);

extern constexpr op_def stateful_uniform_int = [] {
  auto def = stateful(
      {
          .name = "StatefulUniformInt",
          .doc = "Draws whole numbers evenly from [minval, maxval), from a generator.\n\n"
                 "Where the size of that range does not divide the numbers of a word, the smaller "
                 "ones are a little more likely. The generator's state is a variable, i64[3], "
                 "which RngSkip describes: equal states give equal numbers.",
          .example = R"(
state = VarHandleOp dtype=i64 shape=[3]
init = AssignVariableOp(state, i64[5, 6, 7])
x = StatefulUniformInt(state, i64(1), i64[2], i64(10), i64(1000000))
target init
run
fetch x = i64[16792, 738104]
)",
      },
      words, dtype::i64);
  def.inputs = {handle("resource", ""), on_host("algorithm", "i64"),
                on_host("shape", "shape_dtype"), on_host("minval", "dtype"),
                on_host("maxval", "dtype")};
  def.infer = infer_stateful_range;
  return def;
}();

extern constexpr op_def stateless_random_uniform_v2 = keyed(
    {
        .name = "StatelessRandomUniformV2",
        .doc = "Draws numbers evenly from [0, 1), by a key and a counter.\n\n"
               "They are a generator's (RngReadAndSkip), or a seed's "
               "(StatelessRandomGetKeyCounter). Equal ones give equal numbers, which are not those "
               "of other implementations. alg is 1, Philox, or 3, any.",
        .example = R"(
x = StatelessRandomUniformV2(i32[3], u64[7], u64[5, 6], i32(1))
y = StatelessRandomUniformV2(i32[3], u64[7], u64[5, 6], i32(3))
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateless_random_normal_v2 = keyed(
    {
        .name = "StatelessRandomNormalV2",
        .doc = "Draws numbers from the normal distribution with mean 0 and variance 1, by a key "
               "and a counter.\n\nStatelessRandomUniformV2 describes these. Equal ones give equal "
               "numbers, which are not those of other implementations.",
        .example = R"(
x = StatelessRandomNormalV2(i32[3], u64[7], u64[5, 6], i32(1))
y = StatelessRandomNormalV2(i32[3], u64[7], u64[5, 6], i32(1))
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateless_truncated_normal_v2 = keyed(
    {
        .name = "StatelessTruncatedNormalV2",
        .doc = "Draws numbers from the standard normal distribution, again where one is beyond 2, "
               "by a key and a counter.\n\nStatelessRandomUniformV2 describes these. Equal ones "
               "give equal numbers, which are not those of other implementations.",
        .example = R"(
x = StatelessTruncatedNormalV2(i32[3], u64[7], u64[5, 6], i32(1))
y = StatelessTruncatedNormalV2(i32[3], u64[7], u64[5, 6], i32(1))
difference = Sub(x, y)
fetch difference = f32[0, 0, 0]
)",
    },
    floating, dtype::f32);

extern constexpr op_def stateless_random_uniform_full_int_v2 = keyed(
    {
        .name = "StatelessRandomUniformFullIntV2",
        .doc = "Draws whole numbers of all bits, by a key and a counter.\n\n"
               "StatelessRandomUniformV2 describes these. Equal ones give equal numbers.",
        .example = R"(
x = StatelessRandomUniformFullIntV2(i32[2], u64[7], u64[5, 6], i32(1)) dtype=u32
fetch x = u32[3499833800, 879707692]
)",
    },
    words, dtype::u64);

extern constexpr op_def stateless_random_uniform_int_v2 = [] {
  op_def def = keyed(
      {
          .name = "StatelessRandomUniformIntV2",
          .doc = "Draws whole numbers evenly from [minval, maxval), by a key and a counter.\n\n"
                 "StatelessRandomUniformV2 describes these. Equal ones give equal numbers. Where "
                 "the size of the range does not divide the numbers of a word, the smaller ones "
                 "are a little more likely.",
          .example = R"(
x = StatelessRandomUniformIntV2(i32[2], u64[7], u64[5, 6], i32(1), i32(10), i32(1000000))
fetch x = i32[868800, 716492]
)",
      },
      words, dtype::i32);
  def.inputs = {on_host("shape", "Tshape"), on_host("key", "u64"),      on_host("counter", "u64"),
                on_host("alg", "i32"),      on_host("minval", "dtype"), on_host("maxval", "dtype")};
  def.attrs = {{"dtype", words}, {"Tshape", index_types, dtype::i32}};
  def.infer = infer_keyed_range;
  return def;
}();

extern constexpr op_def stateless_random_get_key_counter{
    .name = "StatelessRandomGetKeyCounter",
    .doc = "Makes a key and a counter of two seeds.\n\n"
           "Other seeds give others: they are mixed, so that small seeds do as well as large ones.",
    .inputs = {{"seed", "Tseed"}},
    .outputs = {{"key", "u64"}, {"counter", "u64"}},
    .attrs = {{"Tseed", index_types, dtype::i64}},
    .infer = infer_key_of_seed,
    .no_gradient = "its outputs are whole numbers",
    .example = R"(
x = StatelessRandomGetKeyCounter(i64[1, 2])
fetch x = u64[10413732777507651514]
fetch x:1 = u64[0, 17830669156045600267]
)",
};

extern constexpr op_def stateless_random_get_key_counter_alg{
    .name = "StatelessRandomGetKeyCounterAlg",
    .doc = "Makes a key and a counter of two seeds, and names the algorithm: 1, Philox.",
    .inputs = {{"seed", "Tseed"}},
    .outputs = {{"key", "u64"}, {"counter", "u64"}, {"alg", "i32"}},
    .attrs = {{"Tseed", index_types, dtype::i64}},
    .infer = infer_key_of_seed,
    .no_gradient = "its outputs are whole numbers",
    .example = R"(
x = StatelessRandomGetKeyCounterAlg(i64[1, 2])
fetch x = u64[10413732777507651514]
fetch x:2 = i32(1)
)",
};

extern constexpr op_def stateless_random_get_alg{
    .name = "StatelessRandomGetAlg",
    .doc = "Names the algorithm that random numbers are drawn by: 1, Philox.",
    .outputs = {{"alg", "i32"}},
    .infer = [](const infer_context&) -> result<shapes> { return shapes{shape{}}; },
    .no_gradient = "its output is a whole number",
    .example = R"(
alg = StatelessRandomGetAlg
fetch alg = i32(1)
)",
};

} // namespace troupe::ops::generator_op

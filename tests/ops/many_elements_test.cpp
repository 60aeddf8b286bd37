// GPU kernels compute many elements as processors do, bit by bit: sorts, scans and reductions take
// other paths than for the few elements of examples and golden cases.
#include "tests/support/catch.hpp"
#include "tests/support/real_gpus.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <functional>
#include <limits>
#include <random>

namespace troupe::test::many_elements_test {

namespace {

struct big_case {
  std::string nodes; ///< these compute `y`, and perhaps `z`, from `a` and `b`
  std::vector<tensor> operands;
  int outputs = 1;

  text_case parsed(const registry& ops) const {
    std::string text;
    for (size_t i = 0; i < operands.size(); ++i)
      text += concat(i ? 'b' : 'a', " = Placeholder dtype=", to_string(operands[i].type()), '\n');
    text += nodes + "\nfetch y";
    if (outputs > 1)
      text += "\nfetch z";
    return text_case{text, nodes, &ops};
  }
};

std::unique_ptr<client> session_on(const registry& ops, device_maker make) {
  client_options options;
  options.ops = &ops;
  options.make_devices = std::move(make);
  options.passes = pass_options::none();
  auto session = client::local(options);
  REQUIRE(session);
  return *std::move(session);
}

// Runs a case this many times, so that it is also recorded and replayed.
std::vector<result<std::vector<tensor>>> outcomes(client& session, const registry& ops,
                                                  const big_case& tested, int runs) {
  auto deadline = step_clock::now() + std::chrono::seconds{60};
  auto parsed = tested.parsed(ops);
  step_signature signature;
  for (const auto* name : {"a", "b"})
    if (auto* fed = parsed.nodes->find(name))
      signature.feeds.push_back({fed, 0});
  for (const auto& fetch : parsed.text.runs.at(0).fetches)
    signature.fetches.push_back(fetch.fetched_edge);
  auto step = session.prepare(*parsed.nodes, signature, deadline);
  std::vector<result<std::vector<tensor>>> results;
  if (!step)
    results.emplace_back(step.status());
  for (int i = 0; step && i < runs; ++i)
    results.push_back(session.run(**step, tested.operands, deadline));
  return results;
}

bool same_bits(const tensor& a, const tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() &&
         std::memcmp(a.raw(), b.raw(), size_of(a.type()) * static_cast<size_t>(a.elements())) == 0;
}

void compare(client& on_gpu, const registry& ops, const std::vector<big_case>& cases) {
  auto on_processor =
      session_on(library(), [] { return make_devices({.intra_op_threads = 2, .gpus = 0}); });
  for (const auto& tested : cases) {
    INFO(tested.nodes << " of " << tested.operands[0].dims());
    auto expected = std::move(outcomes(*on_processor, library(), tested, 1).at(0));
    if (!expected)
      FAIL(expected.status().message());
    for (const auto& actual : outcomes(on_gpu, ops, tested, 4)) {
      if (!actual)
        FAIL(actual.status().message());
      for (size_t i = 0; i < actual->size(); ++i)
        if (std::string mismatch; !close_to((*actual)[i], (*expected)[i], 0, &mismatch))
          FAIL_CHECK(mismatch);
    }
  }
}

class drawing {
public:
  explicit drawing(unsigned seed, bool for_real = true) : from_(seed), for_real_(for_real) {}

  // Simulated GPUs are slow, and have no tiles to fill.
  int64_t extent(int64_t usual) const { return for_real_ ? usual : usual / 9; }

  int64_t integer(int64_t min, int64_t max) {
    return std::uniform_int_distribution<int64_t>{min, max}(from_);
  }
  // Whole numbers that halves and sums of floats represent exactly.
  template <class T>
  tensor numbers(const shape& dims, int64_t min = -9, int64_t max = 9) {
    return drawn_tensor<T>(dims,
                           [&] { return static_cast<T>(static_cast<float>(integer(min, max))); });
  }
  template <class T>
  tensor words(const shape& dims) {
    using limits = std::numeric_limits<T>;
    return drawn_tensor<T>(dims,
                           [&] { return static_cast<T>(integer(limits::min(), limits::max())); });
  }
  // Many equal values, both zeros, infinities, and NaN of either sign.
  template <class T>
  tensor oddities(const shape& dims) {
    return drawn_tensor<T>(dims, [&] {
      switch (integer(0, 99)) {
        case 0: return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
        case 1: return static_cast<T>(std::numeric_limits<float>::infinity());
        case 2: return static_cast<T>(-std::numeric_limits<float>::infinity());
        case 3: return static_cast<T>(-0.0f);
        case 4: return static_cast<T>(-std::numeric_limits<float>::quiet_NaN());
        default: return static_cast<T>(static_cast<float>(integer(-800, 800)) / 16);
      }
    });
  }
  tensor truths(const shape& dims, bool usual, int64_t others) {
    auto flags = drawn_tensor<bool>(dims, [&] { return usual; });
    for (int64_t i = 0; i < others; ++i)
      flags.data<bool>()[integer(0, flags.elements() - 1)] = !usual;
    return flags;
  }

private:
  template <class T, class Draw>
  static tensor drawn_tensor(const shape& dims, Draw draw) {
    auto filled = tensor::make(dtype_of<T>, dims);
    REQUIRE(filled);
    for (auto& value : filled->template values<T>())
      value = draw();
    return *std::move(filled);
  }

  std::mt19937 from_;
  bool for_real_;
};

// All rows at once, one row by itself, and a few rows.
template <class T>
void add_sorts(std::vector<big_case>& to, const drawing& like,
               const std::function<tensor(const shape&)>& draw) {
  for (const auto& dims : {shape{like.extent(70'001)}, shape{2, like.extent(40'003)},
                           shape{like.extent(300), 1'031}, shape{0, 9'000}}) {
    auto columns = dims[dims.rank() - 1];
    for (auto k : {columns, std::min<int64_t>(columns, 300)})
      to.push_back(
          {concat("top = TopKV2(a, i32(", k, "))\ny = Identity(top:0)\nz = Identity(top:1)"),
           {draw(dims)},
           2});
    if (dims.elements() > 0)
      for (auto n : {int64_t{0}, columns / 3, columns - 1})
        to.push_back({concat("y = NthElement(a, i32(", n, "))"), {draw(dims)}});
  }
}

std::vector<big_case> sorts(drawing& draw) {
  std::vector<big_case> cases;
  add_sorts<float16>(cases, draw, [&](const shape& dims) { return draw.oddities<float16>(dims); });
  add_sorts<bfloat16>(cases, draw,
                      [&](const shape& dims) { return draw.oddities<bfloat16>(dims); });
  add_sorts<float>(cases, draw, [&](const shape& dims) { return draw.oddities<float>(dims); });
  add_sorts<double>(cases, draw, [&](const shape& dims) { return draw.oddities<double>(dims); });
  add_sorts<int32_t>(cases, draw, [&](const shape& dims) { return draw.words<int32_t>(dims); });
  add_sorts<int64_t>(cases, draw, [&](const shape& dims) { return draw.words<int64_t>(dims); });
  return cases;
}

std::vector<big_case> scans(drawing& draw) {
  std::vector<big_case> cases;
  for (const auto* op : {"Cumsum", "Cumprod"})
    for (const auto* attrs :
         {"", " exclusive=true", " reverse=true", " exclusive=true reverse=true"})
      for (const auto& dims : {shape{draw.extent(100'003)}, shape{draw.extent(301), 1'009},
                               shape{draw.extent(9'001), 3}, shape{7, 0}}) {
        auto text = concat("y = ", op, "(a, i32(-1))", attrs);
        cases.push_back({text, {draw.words<int32_t>(dims)}});
        cases.push_back({text, {draw.words<int64_t>(dims)}});
      }
  return cases;
}

template <class T>
void add_reductions(std::vector<big_case>& to, drawing& draw) {
  for (const auto* op : {"Sum", "Mean", "Max", "Min", "EuclideanNorm"}) {
    to.push_back({concat("y = ", op, "(a, i32[0])"), {draw.numbers<T>({draw.extent(300'007)})}});
    to.push_back({concat("y = ", op, "(a, i32[0, 1, 2])"), {draw.numbers<T>({11, 13, 1'021})}});
    to.push_back(
        {concat("y = ", op, "(a, i32[1, 2])"), {draw.numbers<T>({131, 3, draw.extent(4'019)})}});
    to.push_back({concat("y = ", op, "(a, i32[-1]) keep_dims=true"),
                  {draw.numbers<T>({13, 15, 1'025 + draw.extent(4'000)})}});
  }
  const std::string signs = "twice = Add(a, a)\nones = OnesLike(a)\nsigns = Sub(twice, ones)\n";
  for (const auto& dims : {shape{1, 4'001}, shape{203, 1'027}})
    to.push_back({signs + "y = Prod(signs, i32[1])", {draw.numbers<T>(dims, 0, 1)}});
}

std::vector<big_case> reductions(drawing& draw) {
  std::vector<big_case> cases;
  add_reductions<float16>(cases, draw);
  add_reductions<bfloat16>(cases, draw);
  add_reductions<float>(cases, draw);
  add_reductions<double>(cases, draw);
  cases.push_back({"y = L2Loss(a)", {draw.numbers<bfloat16>({draw.extent(90'001)})}});
  cases.push_back({"y = L2Loss(a)", {draw.numbers<float>({draw.extent(90'001)})}});
  cases.push_back({"y = L2Loss(a)", {draw.numbers<double>({draw.extent(90'001)})}});
  add_reductions<int32_t>(cases, draw);
  add_reductions<int64_t>(cases, draw);
  for (auto other_count : {0, 1, 90})
    for (const auto* axes : {"[0, 1]", "[1]"}) {
      shape dims{150, 3'001};
      cases.push_back(
          {concat("y = All(a, i32", axes, ')'), {draw.truths(dims, true, other_count)}});
      cases.push_back(
          {concat("y = Any(a, i32", axes, ')'), {draw.truths(dims, false, other_count)}});
    }
  return cases;
}

// Several updates of one segment are applied in order: the last one stays.
std::vector<big_case> updates(drawing& draw) {
  std::vector<big_case> cases;
  for (auto count : {draw.extent(20'011), draw.extent(90'001)}) {
    auto parts = draw.numbers<int32_t>({count}, 0, 776);
    auto rows = draw.numbers<float>({count, 3}), values = draw.words<int32_t>({count});
    cases.push_back({"y = UnsortedSegmentSum(a, b, i32(777))", {rows, parts}});
    cases.push_back({"y = UnsortedSegmentMax(a, b, i32(777))", {rows, parts}});
    cases.push_back({"y = UnsortedSegmentProd(a, b, i32(777))", {values, parts}});
    cases.push_back({"weights = Abs(a)\ny = Bincount(b, i32(700), weights)",
                     {draw.numbers<float>({count}), parts}});
    auto places = draw.extent(900'000);
    auto at = draw.numbers<int32_t>({count, 1}, 0, places - 1);
    cases.push_back(
        {concat("to = Fill(i32[", places, ", 3], f32(1))\ny = TensorScatterAdd(to, b, a)"),
         {rows, at}});
    cases.push_back(
        {concat("to = Fill(i32[", places, "], i32(1))\ny = TensorScatterUpdate(to, b, a)"),
         {values, at}});
  }
  return cases;
}

// Images whose channels do or do not fill packs; windows that overlap, leave gaps, or extend beyond
// the image; equal elements, infinities and NaN.
template <class T>
void add_pools(std::vector<big_case>& to, drawing& draw) {
  for (auto channels : {8, 12, 24})
    for (const auto* window_attrs :
         {"ksize=[1, 2, 2, 1] strides=[1, 2, 2, 1] padding=\"VALID\"",
          "ksize=[1, 3, 3, 1] strides=[1, 2, 2, 1] padding=\"SAME\"",
          "ksize=[1, 3, 2, 1] strides=[1, 1, 3, 1] padding=\"SAME\"",
          "ksize=[1, 1, 2, 1] strides=[1, 2, 4, 1] padding=\"VALID\"",
          "ksize=[1, 17, 15, 1] strides=[1, 9, 8, 1] padding=\"VALID\""}) {
      auto x = draw.oddities<T>({2, 21, 18, channels});
      to.push_back({concat("y = MaxPool(a) ", window_attrs), {x}});
      to.push_back({concat("p = MaxPool(a) ", window_attrs,
                           "\ndy = OnesLike(p)\ny = MaxPoolGrad(a, p, dy) ", window_attrs),
                    {x}});
    }
}

std::vector<big_case> pools(drawing& draw) {
  std::vector<big_case> cases;
  add_pools<float16>(cases, draw);
  add_pools<bfloat16>(cases, draw);
  add_pools<float>(cases, draw);
  add_pools<double>(cases, draw);
  return cases;
}

std::vector<big_case> all_big_cases(drawing draw) {
  std::vector<big_case> cases;
  for (auto group : {sorts(draw), scans(draw), reductions(draw), updates(draw), pools(draw)})
    std::ranges::move(group, std::back_inserter(cases));
  return cases;
}

auto simulated_gpu_session(const gpu::memory_options& memory = {}) {
  return session_on(simulated_library(), [=] {
    return make_simulated_devices(1, {.memory = size_t{1} << 30, .longest_delay = {}}, memory);
  });
}

} // namespace

TEST_CASE("simulated GPUs compute many elements as processors do") {
  watchdog watch{std::chrono::seconds{100}};
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  compare(*simulated_gpu_session(), simulated_library(), all_big_cases(drawing{seed, false}));
}

TEST_CASE("GPUs compute many elements as processors do", "[gpu]") {
  watchdog watch{std::chrono::seconds{100}};
  if (!has_gpu())
    return;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  compare(*session_on(library(), [] { return make_gpu_devices(); }), library(),
          all_big_cases(drawing{seed}));
}

TEST_CASE("sums of floats on a GPU have the same bits in each run", "[gpu]") {
  watchdog watch{std::chrono::seconds{100}};
  if (!has_gpu())
    return;
  auto session = session_on(library(), [] { return make_gpu_devices(); });
  for (const auto* nodes :
       {"y = Sum(a, i32[0, 1])", "y = Sum(a, i32[1])", "y = Sum(a, i32[0])",
        "y = Cumsum(a, i32(1))", "z = Reshape(a, i32[-1])\ny = Cumsum(z, i32(0))",
        "rows = Range(i32(0), i32(500), i32(1))\nfive = FloorMod(rows, i32(5))\n"
        "y = UnsortedSegmentSum(a, five, i32(5))"}) {
    INFO(nodes);
    auto input_case =
        text_case{"x = RandomUniform(i32[500, 9001]) dtype=f64 seed=3 seed2=5\nfetch x"};
    auto a = run(*session, input_case);
    REQUIRE(a);
    auto repeated = outcomes(*session, library(), {nodes, {a->front()}}, 20);
    for (const auto& repeat : repeated) {
      REQUIRE(repeat);
      CHECK(same_bits(repeat->front(), repeated.front()->front()));
    }
  }
}

TEST_CASE("a sort without working memory fails, and the device continues") {
  auto session = simulated_gpu_session({.limit = size_t{8} << 20});
  drawing draw{1};
  auto sort = [&](int64_t elements) {
    return std::move(outcomes(*session, simulated_library(),
                              {"top = TopKV2(a, i32(5000))\ny = Identity(top:0)",
                               {draw.words<int64_t>({elements})}},
                              1)
                         .at(0));
  };
  auto failed = sort(200'000);
  REQUIRE(!failed);
  CHECK(failed.status().kind() == error_kind::resource_exhausted);
  CHECK(sort(30'000));
}

} // namespace troupe::test::many_elements_test

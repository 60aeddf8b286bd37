// Ops whose output sizes depend on input values give the same on simulated GPUs as on processors.
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <cmath>
#include <map>
#include <random>
#include <set>

namespace troupe::test::data_dependent_shape_test {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<client> session_with(int gpus, unsigned seed) {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [=] {
    return make_simulated_devices(gpus, {.seed = seed, .longest_delay = 50us});
  };
  options.inter_op_threads = 2;
  auto session = client::local(options);
  REQUIRE(session);
  return *std::move(session);
}

// A graph with one node of an op, prepared once for tensors of any shape.
struct one_op {
  one_op(client& running_session, std::string_view op, const std::vector<dtype>& types,
         attr_map attrs = {})
      : session(running_session) {
    step_signature signature;
    std::vector<edge> inputs;
    for (auto type : types) {
      auto placeholder = nodes.add({.op = "Placeholder", .attrs = {{"dtype", type}}});
      REQUIRE(placeholder);
      inputs.push_back({*placeholder, 0});
    }
    auto tested_node =
        nodes.add({.op = std::string{op}, .inputs = inputs, .attrs = std::move(attrs)});
    INFO(tested_node.status());
    REQUIRE(tested_node);
    signature.feeds = inputs;
    for (int i = 0; i < (*tested_node)->outputs(); ++i)
      signature.fetches.push_back({*tested_node, i});
    auto prepared = session.prepare(nodes, signature, step_clock::now() + 20s);
    INFO(prepared.status());
    REQUIRE(prepared);
    step = *prepared;
  }
  result<std::vector<tensor>> run(const std::vector<tensor>& feeds,
                                  step_statistics* statistics = nullptr) {
    return session.run(*step, feeds, step_clock::now() + 20s, {.statistics = statistics});
  }

  client& session;
  graph nodes{simulated_library()};
  std::shared_ptr<prepared_step> step;
};

struct dice {
  std::mt19937 bits;
  int64_t below(int64_t end) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(end)); }
  // Mostly small, so that there are enough cases.
  int64_t count() {
    constexpr int64_t bounds[] = {1, 2, 5, 40, 300, 300, 3000};
    return below(bounds[below(7)] + 1);
  }

  tensor integers(const shape& dims, int64_t begin, int64_t end, dtype type = dtype::i32) {
    auto drawn = tensor::make(dtype::i64, dims);
    for (auto& number : drawn->values<int64_t>())
      number = begin + below(end - begin);
    return converted(*drawn, type);
  }
  // Few different numbers, with NaN and -0 if the type has them.
  tensor numbers(const shape& dims, dtype type) {
    auto drawn = tensor::make(dtype::f64, dims);
    auto is_float =
        type == dtype::f16 || type == dtype::bf16 || type == dtype::f32 || type == dtype::f64;
    for (auto& number : drawn->values<double>()) {
      auto value = below(12);
      number = static_cast<double>(type == dtype::boolean ? value % 2 : value);
      if (is_float)
        number = value == 0 ? std::nan("") : value == 1 ? -0.0 : static_cast<double>(value - 2) / 2;
    }
    return converted(*drawn, type);
  }
  tensor sorted_ids(int64_t count, int64_t step, dtype type) {
    auto drawn = tensor::make(dtype::i64, shape{count});
    int64_t id = 0;
    for (auto& id_value : drawn->values<int64_t>())
      id_value = id += below(3) == 0 ? below(step + 1) : 0;
    return converted(*drawn, type);
  }
};

struct op_case {
  std::string_view op;
  std::vector<dtype> types;
  attr_map attrs;
  std::function<std::vector<tensor>(dice&)> feeds;
};

const std::vector<dtype> compared{dtype::f16, dtype::bf16, dtype::f32, dtype::f64,    dtype::i8,
                                  dtype::i32, dtype::i64,  dtype::u16, dtype::boolean};

std::vector<op_case> segment_cases() {
  std::vector<op_case> cases;
  for (auto op : {"SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"})
    for (auto type : {dtype::f32, dtype::i32, dtype::f16})
      for (auto ids : {dtype::i32, dtype::i64})
        cases.push_back({op, {type, ids}, {}, [=](dice& random) {
                           auto rows = random.count(), step = 1 + random.below(3);
                           auto columns = random.below(3) == 0 ? random.below(70) : random.below(4);
                           return std::vector{random.integers(shape{rows, columns}, -2, 3, type),
                                              random.sorted_ids(rows, step, ids)};
                         }});
  for (auto op : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"})
    for (auto ids : {dtype::i32, dtype::i64})
      cases.push_back({op, {dtype::f32, ids, dtype::i32}, {}, [=](dice& random) {
                         auto rows = 1 + random.below(20), entries = random.count();
                         return std::vector{
                             random.integers(shape{rows, random.below(40)}, -5, 5, dtype::f32),
                             random.integers(shape{entries}, 0, rows, ids),
                             random.sorted_ids(entries, 2, dtype::i32)};
                       }});
  return cases;
}

std::vector<op_case> selection_cases() {
  std::vector<op_case> cases;
  for (auto type : compared) {
    cases.push_back(
        {"Where", {type}, {}, [=](dice& random) {
           shape dims[] = {shape{}, shape{random.count()}, shape{random.below(30), 3, 5}};
           return std::vector{random.numbers(dims[random.below(3)], type)};
         }});
    cases.push_back({"ListDiff", {type, type}, {}, [=](dice& random) {
                       return std::vector{random.numbers(shape{random.count()}, type),
                                          random.numbers(shape{random.below(8)}, type)};
                     }});
    for (auto op : {"Unique", "UniqueWithCounts"})
      for (auto places : {dtype::i32, dtype::i64})
        cases.push_back({op, {type}, {{"out_idx", places}}, [=](dice& random) {
                           return std::vector{random.numbers(shape{random.count()}, type)};
                         }});
    for (auto op : {"UniqueV2", "UniqueWithCountsV2"})
      cases.push_back({op, {type, dtype::i64}, {}, [=](dice& random) {
                         auto axis = random.below(3);
                         int64_t extents[] = {random.below(4), random.below(4), random.below(4)};
                         extents[axis] = random.below(40);
                         return std::vector{
                             random.numbers(shape{extents[0], extents[1], extents[2]}, type),
                             tensor::vector<int64_t>({axis - random.below(2) * 3})};
                       }});
  }
  return cases;
}

std::vector<op_case> partition_cases() {
  std::vector<op_case> cases;
  for (auto type : {dtype::f32, dtype::u8, dtype::i64, dtype::c128})
    for (int parts : {1, 2, 7})
      cases.push_back(
          {"DynamicPartition", {type, dtype::i32}, {{"num_partitions", parts}}, [=](dice& random) {
             auto rows = random.count(), columns = random.below(5);
             auto flat = random.below(2) == 0;
             auto data = flat ? shape{rows, columns} : shape{3, rows, columns};
             auto ids = flat ? shape{rows} : shape{3, rows};
             return std::vector{random.integers(data, 0, 100, type),
                                random.integers(ids, 0, parts)};
           }});
  for (auto op : {"DynamicStitch", "ParallelDynamicStitch"})
    for (auto type : {dtype::f32, dtype::u8, dtype::c128})
      cases.push_back(
          {op, {dtype::i32, dtype::i32, type, type}, {}, [=](dice& random) {
             auto first = random.count(), second = random.below(5), columns = random.below(6);
             auto limit = 1 + random.below(2 * first + 3);
             return std::vector{random.integers(shape{first}, 0, limit),
                                random.integers(shape{2, second}, 0, limit),
                                random.integers(shape{first, columns}, 1, 100, type),
                                random.integers(shape{2, second, columns}, 1, 100, type)};
           }});
  return cases;
}

std::vector<op_case> suppression_cases() {
  auto boxes = [](dice& random, dtype type) {
    auto count = random.below(2) ? random.below(60) : random.below(3);
    // So few different values that f16 and f32 have the same overlaps.
    return std::vector{random.integers(shape{count, 4}, 0, 9, type),
                       random.integers(shape{count}, -3, 12, type),
                       tensor::scalar<int32_t>(static_cast<int32_t>(random.below(30) - 2))};
  };
  std::vector<op_case> cases;
  cases.push_back({"NonMaxSuppression",
                   {dtype::f32, dtype::f32, dtype::i32},
                   {{"iou_threshold", 0.3}},
                   [=](dice& random) { return boxes(random, dtype::f32); }});
  for (auto type : {dtype::f16, dtype::f32})
    for (auto limit : {dtype::f16, dtype::f32})
      for (auto scores : {false, true})
        cases.push_back({scores ? "NonMaxSuppressionV3" : "NonMaxSuppressionV2",
                         scores ? std::vector{type, type, dtype::i32, limit, limit}
                                : std::vector{type, type, dtype::i32, limit},
                         {},
                         [=](dice& random) {
                           auto feeds = boxes(random, type);
                           feeds.push_back(
                               converted(tensor::scalar(0.1f * float(random.below(11))), limit));
                           if (scores)
                             feeds.push_back(random.integers(shape{}, -4, 9, limit));
                           return feeds;
                         }});
  return cases;
}

tensor truths(const std::vector<int32_t>& flags) {
  return converted(tensor::vector(flags), dtype::boolean);
}

void compare(const std::vector<op_case>& cases, int rounds) {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  dice random{std::mt19937{seed}};
  auto processor = session_with(0, seed), gpu = session_with(1, seed);
  for (const auto& tested : cases) {
    INFO(tested.op << " of " << to_string(tested.types[0]));
    one_op expected{*processor, tested.op, tested.types, tested.attrs},
        actual{*gpu, tested.op, tested.types, tested.attrs};
    for (int round = 0; round < rounds; ++round) {
      auto feeds = tested.feeds(random);
      auto on_processor = expected.run(feeds), on_gpu = actual.run(feeds);
      INFO(on_processor.status());
      INFO(on_gpu.status());
      REQUIRE(on_processor);
      REQUIRE(on_gpu);
      for (size_t i = 0; i < on_processor->size(); ++i) {
        std::string mismatch;
        auto tolerance = default_tolerance((*on_processor)[i].type());
        if (!close_to((*on_gpu)[i], (*on_processor)[i], tolerance, &mismatch)) {
          INFO("round " << round << ", output " << i);
          FAIL_CHECK(mismatch);
        }
      }
    }
  }
}

} // namespace

TEST_CASE("a GPU computes segments, sized by their last id, as processors do") {
  watchdog watch{100s};
  compare(segment_cases(), 12);
}
TEST_CASE("a GPU computes selections and differences as processors do") {
  watchdog watch{100s};
  compare(selection_cases(), 8);
}
TEST_CASE("a GPU computes partitions and stitches as processors do") {
  watchdog watch{100s};
  compare(partition_cases(), 12);
}
TEST_CASE("a GPU chooses the same boxes as processors") {
  watchdog watch{100s};
  compare(suppression_cases(), 20);
}

TEST_CASE("both parts of a node sized by its values run on the GPU") {
  watchdog watch;
  auto gpu = session_with(1, 1);
  one_op tested{*gpu, "Where", {dtype::boolean}};
  step_statistics statistics;
  REQUIRE(tested.run({truths({1, 0, 1})}, &statistics));
  std::map<std::string, int> on_gpu;
  for (const auto& task : statistics.tasks)
    for (const auto& span : task.spans)
      if (const auto& subject = task.subject_of(span); span.thread == device_track(0))
        ++on_gpu[subject.op];
  CHECK(on_gpu["_SizeWhere"] == 1);
  CHECK(on_gpu["_EmitWhere"] == 1);
}

TEST_CASE("a GPU refuses the values that processors refuse, and names the op") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  auto gpu = session_with(1, seed);
  auto refused = [&](const char* text, const char* op, const char* message) {
    // A kernel's error may arrive in a later step: each case has its own session.
    auto session = session_with(1, seed);
    auto outcome = run(*session, text_case{text, "refused", &simulated_library()});
    REQUIRE(!outcome);
    INFO(outcome.status());
    CHECK(outcome.status().message().find(op) != std::string::npos);
    CHECK(outcome.status().message().find(message) != std::string::npos);
    CHECK(outcome.status().kind() == error_kind::invalid_argument);
  };
  const std::string ids = "i = Placeholder dtype=i64 shape=[-1]\n";
  refused((ids + "y = SegmentSum(f32[1, 2], i)\nfeed i = i64[3, 1]\nfetch y\n").c_str(),
          "SegmentSum", "must start at 0 or more and not decrease");
  refused((ids + "y = SegmentMax(f32[1, 2], i)\nfeed i = i64[-3, -1]\nfetch y\n").c_str(),
          "SegmentMax", "must start at 0 or more and not decrease");
  refused((ids + "y = SegmentSum(f32[1, 2], i)\nfeed i = i64[1]\nfetch y\n").c_str(), "SegmentSum",
          "one element for each row");
  refused((ids + "y = SegmentSum(f32[1], i)\nfeed i = i64[9223372036854775807]\nfetch y\n").c_str(),
          "SegmentSum", "9223372036854775807");
  refused((ids + "y = SparseSegmentMean(f32[1, 2], i, i64[0, 0])\nfeed i = i64[0, 2]\nfetch y\n")
              .c_str(),
          "SparseSegmentMean", "indices has 2");
  const std::string numbers = "i = Placeholder dtype=i32 shape=[-1]\n";
  refused((numbers + "y = DynamicPartition(f32[1, 2], i) num_partitions=2\nfeed i = i32[0, 2]\n"
                     "fetch y\nfetch y:1\n")
              .c_str(),
          "DynamicPartition", "partitions has 2");
  refused((numbers + "y = DynamicStitch(i, f32[1, 2])\nfeed i = i32[0, -4]\nfetch y\n").c_str(),
          "DynamicStitch", "must not be negative, got -4");
  refused((numbers + "y = DynamicStitch(i, f32[1, 2])\nfeed i = i32[0]\nfetch y\n").c_str(),
          "DynamicStitch", "must begin the shape");
  refused("t = Placeholder dtype=f32 shape=[]\n"
          "y = NonMaxSuppressionV2(f32[[0, 0, 1, 1]], f32[1], i32(1), t)\n"
          "feed t = f32(2)\nfetch y\n",
          "NonMaxSuppressionV2", "iou_threshold must be in [0, 1]");
  // The session stays usable.
  one_op another{*gpu, "Where", {dtype::boolean}};
  CHECK(another.run({truths({1})}));
}

TEST_CASE("nodes sized by the outputs of others run in a chain on a GPU") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  text_case text{R"(
x = Placeholder dtype=f32 shape=[-1]
above = Greater(x, f32(0))
places = Where(above)
flat = Reshape(places, i32[-1])
kept = Gather(x, flat)
ids = Cast(kept) DstT=i32
sums = SegmentSum(kept, ids)
different = Unique(sums)
rest = ListDiff(different, f32[0])
y = Mul(rest, f32(2))
feed x = f32[0.5, -1, 0.25, 1, 1.5, -3, 3]
fetch y = f32[1.5, 5, 6]
run
feed x = f32[-1, -2]
fetch y = f32[]
run
feed x = f32[4]
fetch y = f32[8]
)",
                 "chain", &simulated_library()};
  for (int gpus : {0, 1}) {
    auto session = session_with(gpus, seed);
    for (int repetition = 0; repetition < 3; ++repetition)
      CHECK(run_all(*session, text) == "");
  }
}

TEST_CASE("regions after a counted size are right for equal and for changing counts") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  auto session = session_with(1, seed);
  text_case text{R"(
x = Placeholder dtype=f32 shape=[-1,4]
ids = Placeholder dtype=i64 shape=[-1]
s = SegmentSum(x, ids)
a = Softmax(s)
m = MatMul(a, f32[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
b = Softmax(m)
c = MatMul(b, f32[[1], [1], [1], [1]])
d = MatMul(c, f32[[2]])
fetch d
feed x = f32[[1, 1, 1, 1]]
feed ids = i64[0]
)",
                 "repeated", &simulated_library()};
  auto deadline = step_clock::now() + 60s;
  step_signature signature = signature_of(text.text.runs[0]);
  auto step = session->prepare(*text.nodes, signature, deadline);
  INFO(step.status());
  REQUIRE(step);
  dice random{std::mt19937{seed}};
  for (int round = 0; round < 60; ++round) {
    auto segments = 1 + random.below(round < 30 ? 2 : 40), rows = 40 + random.below(2);
    auto ids = tensor::make(dtype::i64, shape{rows});
    for (int64_t i = 0; i < rows; ++i)
      ids->data<int64_t>()[i] = i < segments ? i : segments - 1;
    std::vector<tensor> feeds(2);
    for (size_t i = 0; i < 2; ++i)
      feeds[i] = signature.feeds[i].node->name() == "x"
                     ? random.integers(shape{rows, 4}, -2, 3, dtype::f32)
                     : *ids;
    auto outcome = session->run(**step, feeds, deadline);
    INFO(outcome.status());
    REQUIRE(outcome);
    CHECK((*outcome)[0].dims() == shape{segments, 1});
    for (auto number : (*outcome)[0].values<float>())
      CHECK(number == Approx(2));
  }
}

} // namespace troupe::test::data_dependent_shape_test

// Ops whose outputs have as many elements as the values of their inputs say give on simulated GPUs
// what they give on processors.
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
  auto made = client::local(options);
  REQUIRE(made);
  return *std::move(made);
}

// A node of an op in a graph of its own, prepared once for tensors of any shape.
struct one_op {
  one_op(client& in_, std::string_view op, const std::vector<dtype>& types, attr_map attrs = {})
      : in(in_) {
    step_signature signature;
    std::vector<edge> inputs;
    for (auto type : types) {
      auto made = nodes.add({.op = "Placeholder", .attrs = {{"dtype", type}}});
      REQUIRE(made);
      inputs.push_back({*made, 0});
    }
    auto made = nodes.add({.op = std::string{op}, .inputs = inputs, .attrs = std::move(attrs)});
    INFO(made.status());
    REQUIRE(made);
    signature.feeds = inputs;
    for (int i = 0; i < (*made)->outputs(); ++i)
      signature.fetches.push_back({*made, i});
    auto prepared = in.prepare(nodes, signature, step_clock::now() + 20s);
    INFO(prepared.status());
    REQUIRE(prepared);
    step = *prepared;
  }
  result<std::vector<tensor>> run(const std::vector<tensor>& feeds,
                                  step_statistics* statistics = nullptr) {
    return in.run(*step, feeds, step_clock::now() + 20s, {.statistics = statistics});
  }

  client& in;
  graph nodes{simulated_library()};
  std::shared_ptr<prepared_step> step;
};

struct dice {
  std::mt19937 bits;
  int64_t below(int64_t end) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(end)); }
  // Mostly few, so that there are enough cases.
  int64_t count() {
    constexpr int64_t most[] = {1, 2, 5, 40, 300, 300, 3000};
    return below(most[below(7)] + 1);
  }

  tensor integers(const shape& dims, int64_t begin, int64_t end, dtype type = dtype::i32) {
    auto made = tensor::make(dtype::i64, dims);
    for (auto& one : made->values<int64_t>())
      one = begin + below(end - begin);
    return converted(*made, type);
  }
  // Few different ones, NaN and -0 among them where there are such.
  tensor numbers(const shape& dims, dtype type) {
    auto made = tensor::make(dtype::f64, dims);
    auto is_float =
        type == dtype::f16 || type == dtype::bf16 || type == dtype::f32 || type == dtype::f64;
    for (auto& one : made->values<double>()) {
      auto value = below(12);
      one = static_cast<double>(type == dtype::boolean ? value % 2 : value);
      if (is_float)
        one = value == 0 ? std::nan("") : value == 1 ? -0.0 : static_cast<double>(value - 2) / 2;
    }
    return converted(*made, type);
  }
  tensor sorted_ids(int64_t count, int64_t step, dtype type) {
    auto made = tensor::make(dtype::i64, shape{count});
    int64_t id = 0;
    for (auto& one : made->values<int64_t>())
      one = id += below(3) == 0 ? below(step + 1) : 0;
    return converted(*made, type);
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
        cases.push_back({op, {type, ids}, {}, [=](dice& by) {
                           auto rows = by.count(), step = 1 + by.below(3);
                           auto columns = by.below(3) == 0 ? by.below(70) : by.below(4);
                           return std::vector{by.integers(shape{rows, columns}, -2, 3, type),
                                              by.sorted_ids(rows, step, ids)};
                         }});
  for (auto op : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"})
    for (auto ids : {dtype::i32, dtype::i64})
      cases.push_back({op, {dtype::f32, ids, dtype::i32}, {}, [=](dice& by) {
                         auto rows = 1 + by.below(20), entries = by.count();
                         return std::vector{
                             by.integers(shape{rows, by.below(40)}, -5, 5, dtype::f32),
                             by.integers(shape{entries}, 0, rows, ids),
                             by.sorted_ids(entries, 2, dtype::i32)};
                       }});
  return cases;
}

std::vector<op_case> selection_cases() {
  std::vector<op_case> cases;
  for (auto type : compared) {
    cases.push_back({"Where", {type}, {}, [=](dice& by) {
                       shape dims[] = {shape{}, shape{by.count()}, shape{by.below(30), 3, 5}};
                       return std::vector{by.numbers(dims[by.below(3)], type)};
                     }});
    cases.push_back({"ListDiff", {type, type}, {}, [=](dice& by) {
                       return std::vector{by.numbers(shape{by.count()}, type),
                                          by.numbers(shape{by.below(8)}, type)};
                     }});
    for (auto op : {"Unique", "UniqueWithCounts"})
      for (auto places : {dtype::i32, dtype::i64})
        cases.push_back({op, {type}, {{"out_idx", places}}, [=](dice& by) {
                           return std::vector{by.numbers(shape{by.count()}, type)};
                         }});
    for (auto op : {"UniqueV2", "UniqueWithCountsV2"})
      cases.push_back({op, {type, dtype::i64}, {}, [=](dice& by) {
                         auto axis = by.below(3);
                         int64_t extents[] = {by.below(4), by.below(4), by.below(4)};
                         extents[axis] = by.below(40);
                         return std::vector{
                             by.numbers(shape{extents[0], extents[1], extents[2]}, type),
                             tensor::vector<int64_t>({axis - by.below(2) * 3})};
                       }});
  }
  return cases;
}

std::vector<op_case> partition_cases() {
  std::vector<op_case> cases;
  for (auto type : {dtype::f32, dtype::u8, dtype::i64, dtype::c128})
    for (int parts : {1, 2, 7})
      cases.push_back(
          {"DynamicPartition", {type, dtype::i32}, {{"num_partitions", parts}}, [=](dice& by) {
             auto rows = by.count(), columns = by.below(5);
             auto flat = by.below(2) == 0;
             auto data = flat ? shape{rows, columns} : shape{3, rows, columns};
             auto ids = flat ? shape{rows} : shape{3, rows};
             return std::vector{by.integers(data, 0, 100, type), by.integers(ids, 0, parts)};
           }});
  for (auto op : {"DynamicStitch", "ParallelDynamicStitch"})
    for (auto type : {dtype::f32, dtype::u8, dtype::c128})
      cases.push_back({op, {dtype::i32, dtype::i32, type, type}, {}, [=](dice& by) {
                         auto first = by.count(), second = by.below(5), columns = by.below(6);
                         auto limit = 1 + by.below(2 * first + 3);
                         return std::vector{by.integers(shape{first}, 0, limit),
                                            by.integers(shape{2, second}, 0, limit),
                                            by.integers(shape{first, columns}, 1, 100, type),
                                            by.integers(shape{2, second, columns}, 1, 100, type)};
                       }});
  return cases;
}

std::vector<op_case> suppression_cases() {
  auto boxes = [](dice& by, dtype type) {
    auto count = by.below(2) ? by.below(60) : by.below(3);
    // So few different values that f16 and f32 see the same overlaps.
    return std::vector{by.integers(shape{count, 4}, 0, 9, type),
                       by.integers(shape{count}, -3, 12, type),
                       tensor::scalar<int32_t>(static_cast<int32_t>(by.below(30) - 2))};
  };
  std::vector<op_case> cases;
  cases.push_back({"NonMaxSuppression",
                   {dtype::f32, dtype::f32, dtype::i32},
                   {{"iou_threshold", 0.3}},
                   [=](dice& by) { return boxes(by, dtype::f32); }});
  for (auto type : {dtype::f16, dtype::f32})
    for (auto limit : {dtype::f16, dtype::f32})
      for (auto scores : {false, true})
        cases.push_back({scores ? "NonMaxSuppressionV3" : "NonMaxSuppressionV2",
                         scores ? std::vector{type, type, dtype::i32, limit, limit}
                                : std::vector{type, type, dtype::i32, limit},
                         {},
                         [=](dice& by) {
                           auto feeds = boxes(by, type);
                           feeds.push_back(
                               converted(tensor::scalar(0.1f * float(by.below(11))), limit));
                           if (scores)
                             feeds.push_back(by.integers(shape{}, -4, 9, limit));
                           return feeds;
                         }});
  return cases;
}

tensor truths(const std::vector<int32_t>& of) {
  return converted(tensor::vector(of), dtype::boolean);
}

void compare(const std::vector<op_case>& cases, int rounds) {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  dice by{std::mt19937{seed}};
  auto processor = session_with(0, seed), gpu = session_with(1, seed);
  for (const auto& one : cases) {
    INFO(one.op << " of " << to_string(one.types[0]));
    one_op expected{*processor, one.op, one.types, one.attrs},
        actual{*gpu, one.op, one.types, one.attrs};
    for (int round = 0; round < rounds; ++round) {
      auto feeds = one.feeds(by);
      auto there = expected.run(feeds), here = actual.run(feeds);
      INFO(there.status());
      INFO(here.status());
      REQUIRE(there);
      REQUIRE(here);
      for (size_t i = 0; i < there->size(); ++i) {
        std::string why;
        auto tolerance = default_tolerance((*there)[i].type());
        if (!close_to((*here)[i], (*there)[i], tolerance, &why)) {
          INFO("round " << round << ", output " << i);
          FAIL_CHECK(why);
        }
      }
    }
  }
}

} // namespace

TEST_CASE("segments, sized by their last id, are the same on a GPU") {
  watchdog watch{100s};
  compare(segment_cases(), 12);
}
TEST_CASE("what is selected or different is the same on a GPU") {
  watchdog watch{100s};
  compare(selection_cases(), 8);
}
TEST_CASE("what is dealt out and put together is the same on a GPU") {
  watchdog watch{100s};
  compare(partition_cases(), 12);
}
TEST_CASE("the boxes that are chosen are the same on a GPU") {
  watchdog watch{100s};
  compare(suppression_cases(), 20);
}

TEST_CASE("both halves of a node run on the GPU, and what was counted is all that comes from it") {
  watchdog watch;
  auto gpu = session_with(1, 1);
  one_op what{*gpu, "Where", {dtype::boolean}};
  step_statistics found;
  REQUIRE(what.run({truths({1, 0, 1})}, &found));
  std::map<std::string, int> on_gpu;
  for (const auto& task : found.tasks)
    for (const auto& span : task.spans)
      if (const auto& subject = task.subject_of(span); span.thread == device_track(0))
        ++on_gpu[subject.op];
  CHECK(on_gpu["_SizeWhere"] == 1);
  CHECK(on_gpu["_EmitWhere"] == 1);
}

TEST_CASE("a GPU refuses the values that processors refuse, and says which op it was") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  auto gpu = session_with(1, seed);
  auto refused = [&](const char* text, const char* op, const char* why) {
    // A kernel's device_error may come with a later step: each has a session of its own.
    auto session = session_with(1, seed);
    auto outcome = run(*session, text_case{text, "refused", &simulated_library()});
    REQUIRE(!outcome);
    INFO(outcome.status());
    CHECK(outcome.status().message().find(op) != std::string::npos);
    CHECK(outcome.status().message().find(why) != std::string::npos);
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
  // The session goes on.
  one_op again{*gpu, "Where", {dtype::boolean}};
  CHECK(again.run({truths({1})}));
}

TEST_CASE("nodes that are sized by what others have counted follow each other on a GPU") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  text_case what{R"(
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
    for (int again = 0; again < 3; ++again)
      CHECK(run_all(*session, what) == "");
  }
}

TEST_CASE("regions behind what was counted are repeated while the counts are the same") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  auto session = session_with(1, seed);
  text_case what{R"(
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
  step_signature signature = signature_of(what.text.runs[0]);
  auto step = session->prepare(*what.nodes, signature, deadline);
  INFO(step.status());
  REQUIRE(step);
  dice by{std::mt19937{seed}};
  for (int round = 0; round < 60; ++round) {
    auto segments = 1 + by.below(round < 30 ? 2 : 40), rows = 40 + by.below(2);
    auto ids = tensor::make(dtype::i64, shape{rows});
    for (int64_t i = 0; i < rows; ++i)
      ids->data<int64_t>()[i] = i < segments ? i : segments - 1;
    std::vector<tensor> feeds(2);
    for (size_t i = 0; i < 2; ++i)
      feeds[i] = signature.feeds[i].node->name() == "x"
                     ? by.integers(shape{rows, 4}, -2, 3, dtype::f32)
                     : *ids;
    auto got = session->run(**step, feeds, deadline);
    INFO(got.status());
    REQUIRE(got);
    CHECK((*got)[0].dims() == shape{segments, 1});
    for (auto one : (*got)[0].values<float>())
      CHECK(one == Approx(2));
  }
}

} // namespace troupe::test::data_dependent_shape_test

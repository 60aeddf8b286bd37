// The membership of collective groups, and the rendezvous of their members.
#include "troupe/runtime/program/collective.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/collective/run_collective.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

namespace troupe::test::collective_test {

namespace {

// Members on several processors, each in a program of its own.
class group_case {
public:
  explicit group_case(size_t devices) {
    for (size_t i = 0; i < devices; ++i) {
      devices_.push_back(make_cpu_device({.ordinal = static_cast<int>(i), .intra_op_threads = 1}));
      names_.push_back({"local", 0, "cpu", static_cast<int>(i)});
      graphs_.push_back(std::make_unique<graph>(library()));
    }
  }

  group_case& add(size_t device, std::string op, attr_map attrs, dtype type = dtype::f32,
                  std::string name = {}) {
    auto& in = *graphs_[device];
    node_spec spec{.op = op, .name = std::move(name), .attrs = std::move(attrs)};
    if (op != "CollectiveBcastRecv") {
      auto value = *tensor::make(type, shape{4});
      std::memset(value.raw(), 0, value.bytes());
      auto from = in.add({.op = "Const", .attrs = {{"value", value}, {"dtype", type}}});
      REQUIRE(from);
      spec.inputs = {{*from, 0}};
    } else {
      spec.attrs["T"] = type;
    }
    auto collective_node = in.add(std::move(spec));
    REQUIRE(collective_node.status().ok());
    return *this;
  }

  result<std::vector<collective_group>> find() {
    programs_.clear();
    for (size_t i = 0; i < graphs_.size(); ++i) {
      auto finder = [](const node&) -> result<std::shared_ptr<named_state>> {
        return failure(error_kind::internal, "no state here");
      };
      auto compiled = program::compile(std::move(graphs_[i]), *devices_[i], finder);
      REQUIRE(compiled.status().ok());
      programs_.push_back(*std::move(compiled));
    }
    return find_collectives(programs_, names_);
  }

  std::vector<device_name>& names() { return names_; }

private:
  std::vector<std::shared_ptr<device>> devices_;
  std::vector<device_name> names_;
  std::vector<std::unique_ptr<graph>> graphs_;
  std::vector<std::shared_ptr<const program>> programs_;
};

attr_map keys(int64_t size, int64_t group = 1, int64_t instance = 1) {
  return {{"group_size", size}, {"group_key", group}, {"instance_key", instance}};
}

attr_map sum_of(int64_t size, int64_t group = 1, int64_t instance = 1, std::string last = "Id") {
  auto attrs = keys(size, group, instance);
  attrs["merge_op"] = std::string{"Add"};
  attrs["final_op"] = last;
  return attrs;
}

bool says(const status& outcome, std::initializer_list<std::string_view> parts) {
  INFO(outcome);
  return !outcome && std::ranges::all_of(parts, [&](auto part) {
    return outcome.message().find(part) != std::string::npos;
  });
}

} // namespace

TEST_CASE("members of a group are in the order of their devices") {
  group_case groups{3};
  std::swap(groups.names()[0], groups.names()[2]); // the order of the programs does not matter
  for (size_t i : {0, 1, 2})
    groups.add(i, "CollectiveReduce", sum_of(3)).add(i, "CollectiveReduce", sum_of(3, 1, 2, "Div"));
  auto group = groups.find();
  REQUIRE(group);
  REQUIRE(group->size() == 2);
  for (const auto& member : *group) {
    CHECK(member.members.size() == 3);
    for (int i = 0; i < 3; ++i)
      CHECK(member.members[static_cast<size_t>(i)].location.ordinal == i);
    CHECK(member.call.average == (member.instance_key == 2));
    CHECK(member.call.kind == collective_kind::all_reduce);
  }
}

TEST_CASE("groups that cannot work are refused before the step, by name") {
  auto reduce = std::string{"CollectiveReduce"};
  auto missing = group_case{3}.add(0, reduce, sum_of(3)).add(2, reduce, sum_of(3)).find().status();
  CHECK(says(missing, {"CollectiveReduce", "group 1, instance 1 has 2 of 3 members", "cpu:0",
                       "cpu:2", "run by one step"}));
  CHECK(missing.kind() == error_kind::failed_precondition);
  CHECK(says(group_case{2}.add(0, reduce, sum_of(2)).add(1, reduce, sum_of(3)).find().status(),
             {"group_size is 3", "is 2"}));
  CHECK(says(group_case{2}.add(0, reduce, sum_of(1)).add(1, reduce, sum_of(1)).find().status(),
             {"has 2 of 1 members"}));
  CHECK(says(
      group_case{2}.add(0, reduce, sum_of(2)).add(1, reduce, sum_of(2), dtype::f64).find().status(),
      {"or another type", "different instance keys"}));
  CHECK(says(
      group_case{2}.add(0, reduce, sum_of(2)).add(1, "CollectiveGather", keys(2)).find().status(),
      {"computes another collective"}));
  CHECK(says(group_case{2}
                 .add(0, reduce, sum_of(2))
                 .add(1, reduce, sum_of(2, 1, 1, "Div"))
                 .find()
                 .status(),
             {"computes another collective"}));
  group_case mixed{2};
  mixed.names()[1].kind = "gpu";
  CHECK(says(mixed.add(0, reduce, sum_of(2)).add(1, reduce, sum_of(2)).find().status(),
             {"gpu", "cpu", "put all members on GPUs or all on CPUs"}));
  CHECK(says(group_case{2}
                 .add(0, "CollectiveBcastRecv", keys(2))
                 .add(1, "CollectiveBcastRecv", keys(2))
                 .find()
                 .status(),
             {"0 senders", "one CollectiveBcastSend"}));
}

TEST_CASE("a broadcast knows its sender") {
  auto group = group_case{3}
                   .add(0, "CollectiveBcastRecv", keys(3))
                   .add(1, "CollectiveBcastSend", keys(3))
                   .add(2, "CollectiveBcastRecv", keys(3))
                   .find();
  REQUIRE(group);
  CHECK(group->front().call.root == 1);
}

TEST_CASE("members on one device are in the order of their names") {
  group_case groups{1};
  groups.add(0, "CollectiveGather", keys(2), dtype::f32, "b")
      .add(0, "CollectiveGather", keys(2), dtype::f32, "a");
  auto group = groups.find();
  REQUIRE(group);
  CHECK(group->front().members[0].origin->name() == "a");
}

TEST_CASE("the last member to arrive takes the inputs of all, in any order") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  group_case groups{5};
  for (size_t i = 0; i < 5; ++i)
    groups.add(i, "CollectiveReduce", sum_of(5));
  auto group = groups.find();
  REQUIRE(group);
  collective_rendezvous meeting{group->front()};
  for (int round = 0; round < 200; ++round) {
    std::vector<size_t> order(5);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), dice);
    auto until = dice() % 8; // some steps stop before all members have arrived
    for (size_t i = 0; i < 5 && i < until; ++i) {
      auto input = tensor::scalar(static_cast<float>(order[i]));
      auto outcome = meeting.arrive(order[i], input);
      REQUIRE(outcome == (i == 4 ? collective_rendezvous::arrival::last
                                 : collective_rendezvous::arrival::waits));
      if (dice() % 3 == 0)
        REQUIRE(meeting.arrive(order[i], tensor::scalar(-1.0f)) ==
                collective_rendezvous::arrival::again);
      auto text = meeting.describe_missing();
      INFO(text);
      REQUIRE(text.starts_with(concat(i + 1, " of 5 members have arrived")));
      for (size_t k = i + 1; k < 5; ++k)
        REQUIRE(text.find(concat("/device:cpu:", order[k])) != std::string::npos);
    }
    if (until >= 5)
      for (size_t i = 0; i < 5; ++i)
        REQUIRE(meeting.parts()[i].input.values<float>()[0] == static_cast<float>(i));
    meeting.reset();
    REQUIRE(meeting.parts()[0].input.empty());
  }
}

TEST_CASE("one of many arriving threads is the last and sees all inputs") {
  watchdog watch;
  constexpr size_t members = 4;
  group_case groups{members};
  for (size_t i = 0; i < members; ++i)
    groups.add(i, "CollectiveReduce", sum_of(members));
  auto group = groups.find();
  REQUIRE(group);
  collective_rendezvous meeting{group->front()};
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> last = 0, wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < members; ++i)
        threads.emplace_back([&, i] {
          if (meeting.arrive(i, tensor::scalar(static_cast<float>(i))) !=
              collective_rendezvous::arrival::last)
            return;
          ++last;
          for (size_t k = 0; k < members; ++k)
            wrong += meeting.parts()[k].input.values<float>()[0] != static_cast<float>(k);
        });
    }
    REQUIRE(last == 1);
    REQUIRE(wrong == 0);
    meeting.reset();
  }
}

TEST_CASE("inputs that do not match are an error that names two members") {
  group_case groups{2};
  groups.add(0, "CollectiveReduce", sum_of(2)).add(1, "CollectiveReduce", sum_of(2));
  auto group = groups.find();
  REQUIRE(group);
  auto check = [&](tensor a, tensor b) {
    std::vector<collective_part> parts(2);
    parts[0].input = std::move(a);
    parts[1].input = std::move(b);
    return group->front().check(parts).status();
  };
  CHECK(check(tensor::from_values(shape{2}, {1.0f, 2.0f}),
              tensor::from_values(shape{2}, {1.0f, 2.0f})));
  CHECK(says(check(tensor::from_values(shape{2}, {1.0f, 2.0f}),
                   tensor::from_values(shape{1, 2}, {1.0f, 2.0f})),
             {"[1,2] on", "cpu:1", "[2] on", "cpu:0", "one shape"}));
  CHECK(says(check(tensor::scalar(1.0f), tensor::scalar(1.0)), {"expected f32"}));
}

namespace {

double number(const tensor& values, int64_t i) {
  switch (values.type()) {
    case dtype::f16: return static_cast<double>(float{values.data<float16>()[i]});
    case dtype::bf16: return static_cast<double>(float{values.data<bfloat16>()[i]});
    case dtype::f32: return static_cast<double>(values.data<float>()[i]);
    case dtype::f64: return values.data<double>()[i];
    case dtype::i32: return values.data<int32_t>()[i];
    default: return static_cast<double>(values.data<int64_t>()[i]);
  }
}

template <class T>
void fill_typed(const tensor& to, std::mt19937& dice) {
  for (int64_t i = 0; i < to.elements(); ++i) {
    auto integer = static_cast<int>(dice() % 17) - 8;
    if constexpr (std::is_integral_v<T>)
      to.data<T>()[i] = static_cast<T>(integer);
    else
      to.data<T>()[i] = static_cast<T>(static_cast<float>(integer));
  }
}

tensor random_numbers(dtype type, const shape& dims, std::mt19937& dice) {
  auto filled = *tensor::make(type, dims);
  switch (type) {
    case dtype::f16: fill_typed<float16>(filled, dice); break;
    case dtype::bf16: fill_typed<bfloat16>(filled, dice); break;
    case dtype::f32: fill_typed<float>(filled, dice); break;
    case dtype::f64: fill_typed<double>(filled, dice); break;
    case dtype::i32: fill_typed<int32_t>(filled, dice); break;
    default: fill_typed<int64_t>(filled, dice); break;
  }
  return filled;
}

// Element i of the inputs of all members, combined by the call's operation.
double reduced(const collective_call& call, const std::vector<collective_part>& parts, int64_t i) {
  auto value = number(parts[0].input, i);
  for (size_t m = 1; m < parts.size(); ++m) {
    auto other_value = number(parts[m].input, i);
    value = call.operation == reduction::sum       ? value + other_value
            : call.operation == reduction::product ? value * other_value
            : call.operation == reduction::min     ? std::min(value, other_value)
                                                   : std::max(value, other_value);
  }
  if (!call.average)
    return value;
  value /= static_cast<double>(parts.size());
  return integers.contains(call.type) ? std::trunc(value) : value;
}

// Element i of the output of `member`.
double expected_element(const collective_call& call, const std::vector<collective_part>& parts,
                        size_t member, int64_t i) {
  auto count = call.dims.elements();
  switch (call.kind) {
    case collective_kind::broadcast: return number(parts[call.root].input, i);
    case collective_kind::all_gather:
      return number(parts[static_cast<size_t>(i / count)].input, i % count);
    case collective_kind::reduce_scatter:
      return reduced(call, parts,
                     i + static_cast<int64_t>(member) * parts[member].output.elements());
    default: return reduced(call, parts, i);
  }
}

void check_outputs(const collective_call& call, const std::vector<collective_part>& parts) {
  for (size_t m = 0; m < parts.size(); ++m) {
    const auto& out = parts[m].output;
    REQUIRE(out.dims() == call.output_dims(parts.size()));
    int64_t wrong_count = 0;
    for (int64_t i = 0; i < out.elements(); ++i) {
      auto want = expected_element(call, parts, m, i);
      wrong_count += std::abs(number(out, i) - want) > 0.01 * std::max(1.0, std::abs(want));
    }
    REQUIRE(wrong_count == 0);
  }
}

} // namespace

TEST_CASE("processors compute the collective operations of a group, in all types") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  std::vector<std::shared_ptr<device>> devices;
  for (int i = 0; i < 4; ++i)
    devices.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 2}));
  for (auto type : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64})
    for (auto kind : {collective_kind::all_reduce, collective_kind::reduce_scatter,
                      collective_kind::all_gather, collective_kind::broadcast})
      for (auto reduction_kind :
           {reduction::sum, reduction::min, reduction::max, reduction::product})
        for (int64_t rows : {0, 4, 4 * 700}) {
          size_t members = 1 + dice() % 4;
          if (rows % static_cast<int64_t>(members) != 0)
            members = 4;
          collective_call call{.kind = kind,
                               .operation = reduction_kind,
                               .average = reduction_kind == reduction::sum && dice() % 2 == 0,
                               .type = type,
                               .dims = shape{rows, 3},
                               .root = dice() % members};
          std::vector<collective_part> parts;
          for (size_t i = 0; i < members; ++i)
            parts.push_back({devices[i].get(), random_numbers(type, call.dims, dice), {}});
          REQUIRE(run_collective(call, parts, nullptr));
          INFO(type << " of " << members << ", kind " << int(kind) << ", by "
                    << int(reduction_kind));
          check_outputs(call, parts);
        }
}

} // namespace troupe::test::collective_test

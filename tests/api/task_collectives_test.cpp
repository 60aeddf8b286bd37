// Collective operations whose members lie on several tasks.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <functional>

namespace troupe::test::task_collectives_test {

using namespace std::chrono_literals;

namespace {

constexpr dtype all_types[] = {dtype::f16, dtype::bf16, dtype::f32,
                               dtype::f64, dtype::i32,  dtype::i64};

// Workers in this process, each with that many processors.
struct some_tasks {
  watchdog watch;
  cluster_spec cluster;
  std::vector<std::unique_ptr<task>> tasks;
  std::vector<std::string> devices;

  explicit some_tasks(size_t count, int processors = 1) : cluster(make_cluster(count)) {
    for (size_t i = 0; i < count; ++i) {
      tasks.push_back(value_or_throw(task::start(
          {.ops = &library(),
           .make_devices =
               [=] {
                 std::vector<std::shared_ptr<device>> device_list;
                 for (int k = 0; k < processors; ++k)
                   device_list.push_back(make_cpu_device({.ordinal = k, .intra_op_threads = 1}));
                 return device_list;
               },
           .cluster = cluster,
           .self = {"worker", static_cast<int>(i)},
           .listen = {},
           .insecure = false,
           .inter_op_threads = 2})));
      for (int k = 0; k < processors; ++k)
        devices.push_back(concat("/job:worker/task:", i, "/device:cpu:", k));
    }
  }
};

template <class T>
tensor numbers_of(const shape& dims, const std::function<double(int64_t)>& value) {
  std::vector<T> converted;
  for (int64_t i = 0; i < dims.elements(); ++i)
    if constexpr (sizeof(T) < 4)
      converted.push_back(static_cast<T>(static_cast<float>(value(i))));
    else
      converted.push_back(static_cast<T>(value(i)));
  return tensor::from_values(dims, converted);
}

tensor numbers(dtype type, const shape& dims, const std::function<double(int64_t)>& value) {
  switch (type) {
    case dtype::f16: return numbers_of<float16>(dims, value);
    case dtype::bf16: return numbers_of<bfloat16>(dims, value);
    case dtype::f64: return numbers_of<double>(dims, value);
    case dtype::i32: return numbers_of<int32_t>(dims, value);
    case dtype::i64: return numbers_of<int64_t>(dims, value);
    default: return numbers_of<float>(dims, value);
  }
}

// Small integers: all their sums and products are exact in all types.
double part(size_t member, int64_t i) {
  return static_cast<double>((i + 3 * static_cast<int64_t>(member)) % 5) - 1;
}

double reduced(size_t members, int64_t i, reduce_by reduction, dtype type) {
  double value = part(0, i);
  for (size_t m = 1; m < members; ++m) {
    auto next = part(m, i);
    value = reduction == reduce_by::product ? value * next
            : reduction == reduce_by::min   ? std::min(value, next)
            : reduction == reduce_by::max   ? std::max(value, next)
                                            : value + next;
  }
  if (reduction != reduce_by::mean)
    return value;
  value /= static_cast<double>(members);
  return type == dtype::i32 || type == dtype::i64 ? std::trunc(value) : value;
}

// One input edge on each device, and their feeds.
struct member_inputs {
  std::vector<edge> xs;
  std::vector<feed> feeds;

  member_inputs(graph_builder& g, const std::vector<std::string>& devices, dtype type,
                const partial_shape& declared, const shape& dims) {
    for (size_t m = 0; m < devices.size(); ++m) {
      auto placement = g.on(devices[m]);
      auto fed = g.placeholder(type, declared);
      feeds.push_back({fed, numbers(type, dims, [&](int64_t i) { return part(m, i); })});
      xs.push_back(identity(fed));
    }
  }
};

const reduce_by all_reductions[] = {reduce_by::sum, reduce_by::mean, reduce_by::product,
                                    reduce_by::min, reduce_by::max};

} // namespace

TEST_CASE("tensors of all types and sizes are reduced alike on all tasks, several in one step") {
  for (auto [tasks, devices_per_gpu] : {std::pair{2, 1}, {4, 1}, {2, 2}, {3, 2}}) {
    some_tasks cluster{static_cast<size_t>(tasks), devices_per_gpu};
    auto s = session::connect(cluster.cluster);
    for (auto reduction : all_reductions) {
      graph_builder g;
      std::vector<feed> feeds;
      std::vector<edge> fetches;
      std::vector<tensor> expected;
      for (auto type : all_types)
        for (auto known : {true, false})
          for (const auto& dims : {shape{}, shape{0}, shape{3}, shape{7, 11}, shape{6000}}) {
            member_inputs inputs{g, cluster.devices, type,
                                 known ? partial_shape{dims} : partial_shape{}, dims};
            feeds.insert(feeds.end(), inputs.feeds.begin(), inputs.feeds.end());
            auto sums = all_reduce(inputs.xs, reduction);
            fetches.insert(fetches.end(), sums.begin(), sums.end());
            expected.push_back(numbers(type, dims, [&](int64_t i) {
              return reduced(cluster.devices.size(), i, reduction, type);
            }));
          }
      auto results = s.run(feeds, fetches);
      for (size_t i = 0; i < results.size(); ++i) {
        INFO(tasks << " tasks of " << devices_per_gpu << ", reduction "
                   << static_cast<int>(reduction) << ", got " << results[i] << ", expected "
                   << expected[i / cluster.devices.size()]);
        CHECK(identical(results[i], expected[i / cluster.devices.size()]));
      }
    }
  }
}

TEST_CASE("tensors are gathered, scattered and broadcast between tasks in the order of devices") {
  for (auto [tasks, devices_per_gpu] : {std::pair{2, 1}, {3, 2}}) {
    some_tasks cluster{static_cast<size_t>(tasks), devices_per_gpu};
    auto s = session::connect(cluster.cluster);
    const auto n = static_cast<int64_t>(cluster.devices.size());
    for (auto type : all_types)
      for (auto known : {true, false})
        for (auto rows : {int64_t{0}, int64_t{1}, int64_t{40}}) {
          INFO(tasks << " tasks of " << devices_per_gpu << ", " << type << ", " << rows << " rows"
                     << (known ? "" : ", unknown"));
          graph_builder g;
          const shape dims{rows * n, 3};
          member_inputs inputs{g, cluster.devices, type,
                               known ? partial_shape{dims} : partial_shape{}, dims};
          auto gathered = all_gather(inputs.xs);
          auto scattered = reduce_scatter(inputs.xs, reduce_by::mean);
          auto copies = broadcast(inputs.xs[1], {cluster.devices.rbegin(), cluster.devices.rend()});
          std::vector<edge> fetches = gathered;
          fetches.insert(fetches.end(), scattered.begin(), scattered.end());
          fetches.insert(fetches.end(), copies.begin(), copies.end());
          auto results = s.run(inputs.feeds, fetches);
          auto all_gathered = numbers(type, {rows * n * n, 3}, [&](int64_t i) {
            auto elements = dims.elements();
            return part(static_cast<size_t>(i / elements), i % elements);
          });
          for (int64_t m = 0; m < n; ++m) {
            auto own_part = numbers(type, {rows, 3}, [&](int64_t i) {
              return reduced(static_cast<size_t>(n), m * rows * 3 + i, reduce_by::mean, type);
            });
            CHECK(identical(results[static_cast<size_t>(m)], all_gathered));
            CHECK(identical(results[static_cast<size_t>(n + m)], own_part));
            CHECK(identical(results[static_cast<size_t>(2 * n + m)],
                            numbers(type, dims, [&](int64_t i) { return part(1, i); })));
          }
        }
  }
}

TEST_CASE("a large tensor is reduced in several chunks, and sums are the same bits each time") {
  some_tasks cluster{3};
  auto s = session::connect(cluster.cluster);
  graph_builder g;
  const shape dims{7'000'001}; // more than two chunks of 4 MiB for each task
  std::vector<edge> xs;
  std::vector<tensor> values;
  std::vector<feed> feeds;
  for (size_t m = 0; m < cluster.devices.size(); ++m) {
    auto placement = g.on(cluster.devices[m]);
    auto fed = g.placeholder(dtype::f32, dims);
    xs.push_back(fed * 1.0f);
    values.push_back(numbers(dtype::f32, dims, [&](int64_t i) {
      return static_cast<double>((i + 1) * 7919 % (1000 + static_cast<int64_t>(m))) / 7;
    }));
    feeds.push_back({fed, values.back()});
  }
  auto sums = all_reduce(xs, reduce_by::mean);
  auto first = s.run(feeds, sums);
  auto second_sums = s.run(feeds, {sums[2]});
  for (const auto& sum_value : first)
    CHECK(identical(sum_value, first[0]));
  CHECK(identical(second_sums[0], first[0]));
  auto values_found = first[0].values<float>();
  for (size_t i = 0; i < values_found.size(); i += 997) {
    auto value = [&](size_t m) { return values[m].values<float>()[i]; };
    REQUIRE(values_found[i] == (value(0) + value(1) + value(2)) / 3);
  }
}

TEST_CASE("gradients go through collective operations between tasks") {
  some_tasks cluster{2};
  auto s = session::connect(cluster.cluster);
  graph_builder g;
  std::vector<edge> xs, losses;
  std::vector<feed> feeds;
  for (size_t i = 0; i < 2; ++i) {
    auto placement = g.on(cluster.devices[i]);
    xs.push_back(g.placeholder(dtype::f32, {4}, concat("x", i)));
    feeds.push_back({xs.back(), i == 0 ? tensor::vector<float>({1, 2, 3, 4})
                                       : tensor::vector<float>({5, 4, 3, 2})});
  }
  auto sums = all_reduce(xs, reduce_by::mean);
  auto joined = all_gather(reduce_scatter(xs, reduce_by::mean));
  for (size_t i = 0; i < 2; ++i) {
    auto placement = g.on(cluster.devices[i]);
    losses.push_back(sum(square(sums[i]) * static_cast<float>(i + 1)) + sum(square(joined[i])));
  }
  std::vector<edge> weighted;
  for (size_t i = 0; i < 2; ++i)
    weighted.push_back(g.gradients(losses[i], {xs[i]})[0]);
  auto both_gradients = g.gradients(losses, xs);
  for (const auto& fetches : {weighted, both_gradients})
    // With m = (x0 + x1) / 2, the sum is (1 + 2) m^2 + 2 m^2, and dm/dx is 1/2.
    for (const auto& gradient_value : s.run(feeds, fetches))
      for (auto value : gradient_value.values<float>())
        CHECK(value == Approx(0.5 * 2 * 5 * 3));
}

TEST_CASE(
    "a variable is broadcast to the other tasks, with the value from before a member's update") {
  some_tasks cluster{3, 2};
  auto s = session::connect(cluster.cluster);
  graph_builder g;
  std::vector<variable_handle> vs;
  for (size_t i = 0; i < cluster.devices.size(); ++i) {
    auto placement = g.on(cluster.devices[i]);
    vs.push_back(g.variable(tensor::vector<float>({static_cast<float>(i), 1}), concat("v", i)));
  }
  s.run(g.initializer());
  // The value before the update is sent; a variable is fetched after it.
  auto copies = broadcast(vs[2], cluster.devices);
  std::vector<node*> assigned;
  for (size_t i = 0; i < vs.size(); ++i)
    assigned.push_back(assign(vs[i], copies[i] * 2.0f).node);
  s.run({}, {}, {g.group(assigned, "all")});
  for (const auto& variable_ref : vs)
    CHECK(identical(s.fetch(variable_ref), tensor::vector<float>({4, 2})));
  // Sums of the variables themselves, after an update on which they depend.
  auto sums =
      all_reduce({identity(vs[0]), identity(vs[5])}, {cluster.devices[0], cluster.devices[5]});
  node* update = nullptr;
  {
    auto placement = g.on(cluster.devices[5]);
    update = assign_add(vs[5], tensor::vector<float>({10, 10})).node;
  }
  edge read_after;
  {
    auto placement = g.on(cluster.devices[5]);
    auto order = g.after({update});
    read_after = identity(vs[5]);
  }
  auto after = all_reduce({identity(vs[0]), read_after}, {cluster.devices[0], cluster.devices[5]},
                          reduce_by::max);
  auto results = s.run({}, {sums[0], after[1]});
  CHECK(identical(results[0], tensor::vector<float>({8, 4})));
  CHECK(identical(results[1], tensor::vector<float>({14, 12})));
}

TEST_CASE("a step that lacks a member on another task is refused before it runs") {
  some_tasks cluster{2};
  auto s = session::connect(cluster.cluster);
  graph_builder g;
  std::vector<edge> products;
  for (size_t i = 0; i < 2; ++i) {
    auto placement = g.on(cluster.devices[i]);
    products.push_back({value_or_throw(g.add({.op = "CollectiveReduce",
                                              .inputs = {g.constant(1.0f)},
                                              .attrs = {{"group_size", 3},
                                                        {"group_key", 1},
                                                        {"instance_key", 1},
                                                        {"merge_op", "Add"},
                                                        {"final_op", "Id"}}})),
                        0});
  }
  CHECK_THROWS_WITH(s.prepare({}, {products[0]}),
                    Catch::Contains("has 2 of 3 members in this step") &&
                        Catch::Contains("/job:worker/task:1/device:cpu:0"));
}

TEST_CASE("members with different shapes are refused, and both tasks are named") {
  some_tasks cluster{2};
  auto s = session::connect(cluster.cluster);
  graph_builder g;
  std::vector<edge> xs;
  for (size_t i = 0; i < 2; ++i) {
    auto placement = g.on(cluster.devices[i]);
    xs.push_back(g.placeholder(dtype::f32, partial_shape::unknown()));
  }
  auto sums = all_reduce(xs);
  auto joined = all_gather(xs);
  auto cut = reduce_scatter(xs);
  std::vector<feed> feeds{{xs[0], tensor::from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                          {xs[1], tensor::from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6})}};
  for (const auto& fetch : {sums[0], sums[1], joined[0]})
    CHECK_THROWS_WITH(s.run(feeds, {fetch}),
                      Catch::Contains("all members of a group must have one shape") &&
                          Catch::Contains("/job:worker/task:1"));
  feeds[0].value = operand{tensor::vector<float>({1, 2, 3})};
  feeds[1].value = operand{tensor::vector<float>({1, 2, 3})};
  CHECK_THROWS_WITH(s.run(feeds, {cut[1]}), Catch::Contains("cannot be cut into 2 equal parts"));
  feeds[0].value = operand{tensor::scalar(1.0f)};
  feeds[1].value = operand{tensor::scalar(2.0f)};
  CHECK(s.run(feeds, {sums[0]})[0].values<float>()[0] == 3);
  CHECK_THROWS_WITH(s.run(feeds, {joined[1]}), Catch::Contains("needs a first axis"));
}

TEST_CASE("all tasks get the same bits where floats are sent with half of theirs") {
  some_tasks cluster{2};
  for (auto mode : {f32_transfer::truncated, f32_transfer::rounded}) {
    auto s = session::connect(cluster.cluster, {.cluster = {.transfer_precision = mode}});
    graph_builder g;
    std::vector<edge> xs;
    for (size_t i = 0; i < 2; ++i) {
      auto placement = g.on(cluster.devices[i]);
      auto range =
          cast(g.constant(numbers(dtype::i32, {5000},
                                  [](int64_t k) { return static_cast<double>(k * 37 % 1000); })),
               dtype::f32);
      xs.push_back(sin(range + static_cast<float>(i)));
    }
    for (const auto& list : {all_reduce(xs), all_gather(xs), broadcast(xs[0], cluster.devices)}) {
      auto results = s.run({}, list);
      CHECK(identical(results[0], results[1]));
      auto exact = session::connect(cluster.cluster).run({}, {list[0]})[0];
      for (size_t i = 0; i < 5000; i += 7)
        CHECK(std::abs(results[0].values<float>()[i] - exact.values<float>()[i]) < 0.03);
    }
  }
}

TEST_CASE("the end of a task during an exchange is an error that names it") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  graph_builder g;
  std::vector<edge> xs, fed;
  std::vector<std::string> devices;
  for (int i = 0; i < 3; ++i) {
    devices.push_back(concat("/job:worker/task:", i, "/cpu:0"));
    auto placement = g.on(devices.back());
    fed.push_back(g.placeholder(dtype::f32, {100'000}));
    xs.push_back(fed.back() * 1.0f);
  }
  edge begun_element;
  { // This member does not take part.
    auto placement = g.on(devices[1]);
    auto begun_queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}, .shared_name = "begun"});
    auto never_queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}, .shared_name = "never"});
    begun_element = queue_dequeue(begun_queue, {dtype::f32})[0];
    auto order = g.after({queue_enqueue(begun_queue, {g.constant(1.0f)})});
    xs[1] = xs[1] + queue_dequeue(never_queue, {dtype::f32})[0];
  }
  auto exchange = s.prepare(fed, {all_reduce(xs, devices)[0]});
  auto wait = s.prepare({}, {begun_element});
  auto ones_value = numbers(dtype::f32, {100'000}, [](int64_t) { return 1; });
  auto running = exchange.run_async({ones_value, ones_value, ones_value});
  wait.run();
  auto killed = std::chrono::steady_clock::now();
  workers[2]->kill();
  try {
    running.get();
    FAIL("the step ended well");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::unavailable);
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/task:2"));
    CHECK(std::chrono::steady_clock::now() - killed < 5s * timeout_factor());
  }
}

} // namespace troupe::test::task_collectives_test

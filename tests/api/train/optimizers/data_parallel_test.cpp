// Copies of a model on several devices learn the same as one copy that trains on the whole batch.
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <random>

namespace troupe::test::data_parallel_test {

using namespace std::chrono_literals;

namespace {

// Several devices of one kind; the public session makes one processor only.
class devices_session {
public:
  devices_session(bool gpus, int count, unsigned seed = std::random_device{}(),
                  const program_options& programs = {})
      : seed_(seed) {
    client_options options;
    options.programs = programs;
    options.ops = &simulated_library();
    options.make_devices = [=] {
      if (gpus)
        return make_simulated_devices(count, {.seed = seed});
      std::vector<std::shared_ptr<device>> devices;
      for (int i = 0; i < count; ++i)
        devices.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 2}));
      return devices;
    };
    options.inter_op_threads = 2;
    client_ = value_or_throw(client::local(options));
    for (int i = 0; i < count; ++i)
      names_.push_back(concat(gpus ? "/gpu:" : "/cpu:", i));
  }

  const std::vector<std::string>& names() const { return names_; }
  unsigned seed() const { return seed_; }

  result<std::vector<tensor>> run(const graph& source,
                                  const std::vector<std::pair<edge, tensor>>& feeds,
                                  const std::vector<edge>& fetches,
                                  const std::vector<node*>& targets = {}) {
    step_signature signature{.fetches = fetches, .targets = targets};
    std::vector<tensor> values;
    for (const auto& [target, value] : feeds) {
      signature.feeds.push_back(target);
      values.push_back(value);
    }
    auto deadline = step_clock::now() + 20s;
    TROUPE_ASSIGN(auto step, client_->prepare(source, signature, deadline));
    return client_->run(*step, values, deadline);
  }

private:
  unsigned seed_;
  std::vector<std::string> names_;
  std::unique_ptr<client> client_;
};

std::vector<std::pair<bool, int>> all_kinds() {
  return {{false, 1}, {false, 2}, {false, 4}, {true, 2}, {true, 4}};
}

constexpr int64_t batch = 16, features = 6, classes = 3;

tensor random_tensor(const shape& dims, std::mt19937& generator) {
  auto result = *tensor::make(dtype::f32, dims);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < result.elements(); ++i)
    result.data<float>()[i] = normal(generator);
  return result;
}

tensor random_labels(std::mt19937& generator) {
  auto result = *tensor::make(dtype::i32, shape{batch});
  for (int64_t i = 0; i < batch; ++i)
    result.data<int32_t>()[i] = static_cast<int32_t>(generator() % classes);
  return result;
}

struct trained {
  std::vector<float> losses;
  std::vector<std::vector<tensor>> variables; // of each replica
};

edge two_layers(graph_builder& g, edge images, edge labels) {
  auto hidden = dense(g, images, 5, {.activation = troupe::tanh});
  return softmax_loss(dense(g, hidden, classes), labels);
}

// Initial values of variables, equal in all sessions: random initial values differ.
tensor initial_of(const variable_handle& variable, unsigned number) {
  std::mt19937 generator{number};
  return random_tensor(variable.dims().known(), generator);
}

trained train(devices_session& s, const optimizer_maker& make_optimizer, int steps, unsigned seed,
              const data_parallel_options& options = {}) {
  graph_builder g{simulated_library()};
  auto images = g.placeholder(dtype::f32, {batch, features}, "images");
  auto labels = g.placeholder(dtype::i32, {batch}, "labels");
  auto training = train_data_parallel(
      g, s.names(),
      [&](const replica& context) {
        return two_layers(g, context.slice_of(images), context.slice_of(labels));
      },
      make_optimizer, options);
  // The same numbers in all sessions: replica 0 is assigned them, and the others copy them.
  std::vector<node*> assignments;
  for (size_t i = 0; i < 4; ++i) {
    const auto& first_variable = training.variables[0].at(i);
    assignments.push_back(
        assign(first_variable, initial_of(first_variable, seed + static_cast<unsigned>(i))).node);
  }
  REQUIRE(s.run(g, {}, {}, {g.initializer()}).status().ok());
  REQUIRE(s.run(g, {}, {}, assignments).status().ok());
  REQUIRE(s.run(g, {}, {}, {training.synchronize}).status().ok());
  trained result;
  std::mt19937 generator{seed};
  for (int i = 0; i < steps; ++i) {
    auto results = s.run(g,
                         {{images, random_tensor(shape{batch, features}, generator)},
                          {labels, random_labels(generator)}},
                         {training.loss}, {training.train});
    REQUIRE(results.status().ok());
    result.losses.push_back(results->front().values<float>()[0]);
  }
  for (const auto& replica_variables : training.variables) {
    std::vector<edge> fetches{replica_variables.begin(), replica_variables.end()};
    auto values = s.run(g, {}, fetches);
    REQUIRE(values.status().ok());
    result.variables.push_back(*values);
  }
  return result;
}

bool same_bits(const tensor& a, const tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

} // namespace

TEST_CASE("replicas on any number of devices stay equal, and learn the same as one device") {
  watchdog watch{100s};
  std::pair<const char*, optimizer_maker> kinds[] = {
      {"gradient descent", [] { return std::make_unique<gradient_descent>(0.3); }},
      {"momentum", [] { return std::make_unique<momentum>(0.1); }},
      {"adam", [] { return std::make_unique<adam>(0.05); }}};
  for (const auto& [name, make_optimizer] : kinds) {
    INFO(name);
    devices_session single_device{false, 1};
    auto expected = train(single_device, make_optimizer, 12, 7);
    for (auto [gpus, count] : all_kinds()) {
      devices_session session{gpus, count};
      INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
      auto results = train(session, make_optimizer, 12, 7);
      for (size_t i = 0; i < expected.losses.size(); ++i) // only the order of sums differs
        CHECK(results.losses[i] == Approx(expected.losses[i]).epsilon(1e-4));
      for (const auto& replica_variables : results.variables)
        for (size_t v = 0; v < replica_variables.size(); ++v) {
          CHECK(same_bits(replica_variables[v], results.variables[0][v]));
          REQUIRE(replica_variables[v].dims() == expected.variables[0][v].dims());
          for (int64_t k = 0; k < replica_variables[v].elements(); ++k)
            CHECK(replica_variables[v].data<float>()[k] ==
                  Approx(expected.variables[0][v].data<float>()[k]).epsilon(1e-3).margin(1e-4));
        }
    }
  }
}

TEST_CASE("gradients that are exchanged together equal those that are exchanged alone") {
  watchdog watch{100s};
  auto make_optimizer = [] { return std::make_unique<momentum>(0.1); };
  for (auto [gpus, count] : all_kinds())
    for (auto replay : {true, false}) {
      devices_session session{gpus, count, std::random_device{}(), {.replay = replay}};
      INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
      auto single_result = train(session, make_optimizer, 8, 5, {.bucket_bytes = 0});
      for (auto bytes : {64, 150, 1 << 20}) {
        INFO(bytes << " bytes");
        auto bucketed_result = train(session, make_optimizer, 8, 5, {.bucket_bytes = bytes});
        CHECK(bucketed_result.losses == single_result.losses);
        for (size_t i = 0; i < single_result.variables.size(); ++i)
          for (size_t v = 0; v < single_result.variables[i].size(); ++v)
            CHECK(same_bits(bucketed_result.variables[i][v], single_result.variables[i][v]));
      }
      // No step is replayed.
      if (!gpus)
        break;
    }
}

TEST_CASE("gradient buckets have one type and a limited size, and leave nothing behind") {
  auto exchanges_of = [](std::optional<int64_t> bytes, const std::string& kind = "cpu") {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {4, 8}, "x");
    auto training = train_data_parallel(
        g, {concat('/', kind, ":0"), concat('/', kind, ":1")},
        [&](const replica& context) {
          auto part = context.slice_of(x);
          auto sum_of = [&](int64_t extent, std::string_view name) {
            auto v = g.variable(tensor::vector(std::vector<float>(static_cast<size_t>(extent), 1)),
                                name);
            return sum(square(v)) * mean(part);
          };
          auto loss = sum_of(10, "a");
          loss = loss + sum_of(20, "b");
          auto wide = g.variable(tensor::vector<double>({1, 2}), "wide");
          loss = loss + cast(sum(wide * wide), dtype::f32);
          loss = loss + sum_of(30, "c");
          loss = loss + sum_of(1000, "d");
          return loss;
        },
        [] { return std::make_unique<gradient_descent>(0.1); }, {.bucket_bytes = bytes});
    // Of the tensors that are exchanged on the first device, without the loss.
    std::vector<int64_t> sizes;
    for (const auto& graph_node : g.nodes())
      if (graph_node->op().name == "CollectiveReduce" && graph_node->device().ends_with(":0") &&
          graph_node->output_shape(0).rank() > 0)
        sizes.push_back(graph_node->output_shape(0).elements());
    CHECK(training.train);
    return sizes;
  };
  // d, c, wide, b, a: the last first.
  CHECK(exchanges_of(0) == std::vector<int64_t>{1000, 30, 2, 20, 10});
  CHECK(exchanges_of(200) == std::vector<int64_t>{1000, 50, 2, 10});
  CHECK(exchanges_of(1 << 20) == std::vector<int64_t>{1060, 2});
  // The default size depends on the devices.
  CHECK(exchanges_of({}) == std::vector<int64_t>{1060, 2});
  CHECK(exchanges_of({}, "gpu") == std::vector<int64_t>{1060, 2});
  CHECK_THROWS_WITH(exchanges_of(-1), Catch::Contains("must not be negative"));
}

TEST_CASE("gradients may be transformed when they are added up, on all replicas alike") {
  watchdog watch;
  data_parallel_options clip{
      .transform_gradients = [](const std::vector<variable_gradient>& gradients) {
        return clip_by_global_norm(gradients, 0.01);
      }};
  auto make_optimizer = [] { return std::make_unique<gradient_descent>(1.0); };
  devices_session single_device{false, 1}, two{true, 2};
  auto a = train(single_device, make_optimizer, 4, 3, clip),
       b = train(two, make_optimizer, 4, 3, clip);
  for (size_t i = 0; i < a.losses.size(); ++i)
    CHECK(b.losses[i] == Approx(a.losses[i]).epsilon(1e-4));
}

TEST_CASE("a replica that fails fails the step, and the next step works") {
  watchdog watch;
  for (auto [gpus, count] : all_kinds()) {
    devices_session session{gpus, count};
    INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
    graph_builder g{simulated_library()};
    auto rows = g.placeholder(dtype::i32, {4}, "rows");
    auto training = train_data_parallel(
        g, session.names(),
        [&](const replica& context) {
          auto table = g.variable(tensor::from_values<float>({3, 1}, {1, 2, 3}), "table");
          auto scale = g.variable(2.0f, "scale");
          return mean(gather(table, context.slice_of(rows)) * scale);
        },
        [] { return std::make_unique<gradient_descent>(0.5); });
    REQUIRE(session.run(g, {}, {}, {g.initializer()}).status().ok());
    REQUIRE(session.run(g, {}, {}, {training.synchronize}).status().ok());
    auto variable_values = [&] {
      std::vector<tensor> result;
      for (const auto& replica_variables : training.variables)
        for (const auto& variable : replica_variables)
          result.push_back(value_or_throw(session.run(g, {}, {variable.ref})->front().clone()));
      return result;
    };
    auto before = variable_values();
    auto failed_run = session.run(g, {{rows, tensor::vector<int32_t>({0, 1, 2, 99})}},
                                  {training.loss}, {training.train});
    REQUIRE_FALSE(failed_run);
    CHECK(failed_run.status().message().find("99") != std::string::npos);
    auto good_run = session.run(g, {{rows, tensor::vector<int32_t>({0, 1, 2, 0})}}, {training.loss},
                                {training.train});
    REQUIRE(good_run.status().ok());
    if (!gpus) { // a GPU reports a wrong index when its kernel has run: other updates may have run
      CHECK(good_run->front().values<float>()[0] == Approx(3.5));
    }
    auto after = variable_values();
    // Two variables in each replica.
    for (size_t i = 0; i + 2 < after.size(); ++i)
      CHECK(same_bits(after[i], after[i + 2]));
    CHECK_FALSE(same_bits(before[0], after[0]));
  }
}

TEST_CASE("models that cannot be trained on several devices are refused with a reason") {
  graph_builder g;
  auto make_optimizer = [] { return std::make_unique<gradient_descent>(0.1); };
  auto w = g.variable(1.0f, "w");
  CHECK_THROWS_WITH(train_data_parallel(
                        g, {}, [&](auto&) { return w * 1.0f; }, make_optimizer),
                    Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(train_data_parallel(
                        g, {"/cpu:0", "/cpu:1"}, [&](auto&) { return w * 1.0f; }, make_optimizer),
                    Catch::Contains("no variable of replica 0"));
  CHECK_THROWS_WITH(train_data_parallel(
                        g, {"/cpu:0", "/cpu:1"},
                        [&](const replica& context) {
                          auto v = g.variable(tensor::vector(std::vector<float>(
                                                  static_cast<size_t>(context.index() + 1), 1.0f)),
                                              "v");
                          return mean(v * 1.0f);
                        },
                        make_optimizer),
                    Catch::Contains("must build the same for each"));
}

TEST_CASE("a batch that replicas cannot share equally fails the step, and changes no replica") {
  watchdog watch;
  auto by_handle = GENERATE(false, true);
  devices_session session{false, 3};
  graph_builder g{simulated_library()};
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  std::vector<int> built;
  int optimizers = 0;
  auto training = train_data_parallel(
      g, session.names(),
      [&](const replica& context) {
        CHECK(context.count() == 3);
        CHECK(context.device() == session.names().at(static_cast<size_t>(context.index())));
        built.push_back(context.index());
        auto w = by_handle ? g.resource_variable(2.0f, "w") : g.variable(2.0f, "w");
        return mean(context.slice_of(x)) * (by_handle ? read_variable_op(w) : w.ref);
      },
      [&] { return ++optimizers, std::make_unique<gradient_descent>(0.5); });
  CHECK(built == std::vector<int>{0, 1, 2}); // each once, in order
  CHECK(optimizers == 3);
  CHECK(training.optimizers.size() == 3);
  REQUIRE(session.run(g, {}, {}, {g.initializer()}).status().ok());
  REQUIRE(session.run(g, {}, {}, {training.synchronize}).status().ok());
  auto step = [&](std::vector<float> batch) {
    return session.run(g, {{x, tensor::vector(batch)}}, {training.loss}, {training.train}).status();
  };
  CHECK(step({1, 2, 3, 4}).kind() == error_kind::invalid_argument);
  for (const auto& replica_variables : training.variables)
    CHECK(session.run(g, {}, {replica_variables.at(0).ref})->front().values<float>()[0] == 2);
  CHECK(step({1, 2, 3}).ok());
  for (const auto& replica_variables : training.variables)
    CHECK(session.run(g, {}, {replica_variables.at(0).ref})->front().values<float>()[0] == 1);
}

TEST_CASE("helpers for collective operations put one node on each device") {
  watchdog watch;
  for (auto [gpus, count] : all_kinds()) {
    devices_session session{gpus, count};
    INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
    graph_builder g{simulated_library()};
    std::vector<edge> xs;
    for (int i = 0; i < count; ++i) {
      auto placement = g.on(session.names()[static_cast<size_t>(i)]);
      xs.push_back(g.constant(tensor::vector<float>({1.0f + static_cast<float>(i), 2, 3, 4})) *
                   1.0f);
    }
    auto fetches = all_reduce(xs, reduce_by::mean);
    for (const auto& list :
         {all_gather(reduce_scatter(xs)), all_reduce(xs), broadcast(xs[0], session.names())})
      fetches.insert(fetches.end(), list.begin(), list.end());
    auto results = session.run(g, {}, fetches);
    REQUIRE(results.status().ok());
    auto n = static_cast<size_t>(count);
    for (size_t i = 0; i < n; ++i) {
      CHECK((*results)[i].values<float>()[0] == Approx(1 + 0.5 * (count - 1)));
      CHECK((*results)[i].values<float>()[3] == Approx(4));
      CHECK(same_bits((*results)[n + i], (*results)[2 * n + i]));
      CHECK((*results)[3 * n + i].values<float>()[0] == 1);
    }
  }
  graph_builder g;
  auto x = g.constant(1.0f);
  CHECK_THROWS_WITH(all_reduce({x, x}), Catch::Contains("must be on a device"));
  auto placement = g.on("/cpu:0");
  auto y = g.constant(1.0f);
  CHECK_THROWS_WITH(all_reduce({y, y}), Catch::Contains("another device"));
}

TEST_CASE("gradients go through sums over devices, however often they are taken") {
  watchdog watch;
  devices_session session{false, 2};
  graph_builder g{simulated_library()};
  std::vector<edge> xs, losses;
  for (int i = 0; i < 2; ++i) {
    auto placement = g.on(session.names()[static_cast<size_t>(i)]);
    xs.push_back(g.placeholder(dtype::f32, {4}, concat("x", i)));
  }
  auto sums = all_reduce(xs, reduce_by::mean);
  auto parts = reduce_scatter(xs, reduce_by::mean);
  auto joined = all_gather(parts);
  for (size_t i = 0; i < 2; ++i) {
    auto placement = g.on(session.names()[i]);
    losses.push_back(sum(square(sums[i]) * static_cast<float>(i + 1)) + sum(square(joined[i])));
  }
  // The loss of each replica alone, and all together: both are parts of the sum.
  std::vector<edge> replica_losses;
  for (size_t i = 0; i < 2; ++i)
    replica_losses.push_back(g.gradients(losses[i], {xs[i]})[0]);
  auto both_gradients = g.gradients(losses, xs);
  std::vector<std::pair<edge, tensor>> feeds{{xs[0], tensor::vector<float>({1, 2, 3, 4})},
                                             {xs[1], tensor::vector<float>({5, 4, 3, 2})}};
  for (const auto& fetches : {replica_losses, both_gradients}) {
    auto results = session.run(g, feeds, fetches);
    REQUIRE(results.status().ok());
    // With m = (x0 + x1) / 2, the sum is (1 + 2) m^2 + 2 m^2, and dm/dx is 1/2.
    for (const auto& value : *results)
      for (size_t k = 0; k < 4; ++k)
        CHECK(value.values<float>()[k] == Approx(0.5 * 2 * 5 * 3));
  }
}

} // namespace troupe::test::data_parallel_test

// Copies of a model on several devices learn what one learns from the whole batch.
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

// Several devices of one kind; the session's own API makes one processor only.
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
      std::vector<std::shared_ptr<device>> made;
      for (int i = 0; i < count; ++i)
        made.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 2}));
      return made;
    };
    options.inter_op_threads = 2;
    client_ = value_or_throw(client::local(options));
    for (int i = 0; i < count; ++i)
      names_.push_back(concat(gpus ? "/gpu:" : "/cpu:", i));
  }

  const std::vector<std::string>& names() const { return names_; }
  unsigned seed() const { return seed_; }

  result<std::vector<tensor>> run(const graph& of,
                                  const std::vector<std::pair<edge, tensor>>& feeds,
                                  const std::vector<edge>& fetches,
                                  const std::vector<node*>& targets = {}) {
    step_signature signature{.fetches = fetches, .targets = targets};
    std::vector<tensor> values;
    for (const auto& [to, value] : feeds) {
      signature.feeds.push_back(to);
      values.push_back(value);
    }
    auto deadline = step_clock::now() + 20s;
    TROUPE_ASSIGN(auto step, client_->prepare(of, signature, deadline));
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

tensor random_tensor(const shape& dims, std::mt19937& dice) {
  auto made = *tensor::make(dtype::f32, dims);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < made.elements(); ++i)
    made.data<float>()[i] = normal(dice);
  return made;
}

tensor random_labels(std::mt19937& dice) {
  auto made = *tensor::make(dtype::i32, shape{batch});
  for (int64_t i = 0; i < batch; ++i)
    made.data<int32_t>()[i] = static_cast<int32_t>(dice() % classes);
  return made;
}

struct trained {
  std::vector<float> losses;
  std::vector<std::vector<tensor>> variables; // of each replica
};

edge two_layers(graph_builder& g, edge images, edge labels) {
  auto hidden = dense(g, images, 5, {.activation = troupe::tanh});
  return softmax_loss(dense(g, hidden, classes), labels);
}

// What variables begin with, for all sessions: random ones differ.
tensor initial_of(const variable_handle& one, unsigned number) {
  std::mt19937 dice{number};
  return random_tensor(one.dims().known(), dice);
}

trained train(devices_session& in, const optimizer_maker& by, int steps, unsigned seed,
              const data_parallel_options& options = {}) {
  graph_builder g{simulated_library()};
  auto images = g.placeholder(dtype::f32, {batch, features}, "images");
  auto labels = g.placeholder(dtype::i32, {batch}, "labels");
  auto training = train_data_parallel(
      g, in.names(),
      [&](const replica& at) { return two_layers(g, at.part_of(images), at.part_of(labels)); }, by,
      options);
  // The same numbers in all sessions: replica 0 gets them, the others from it.
  std::vector<node*> given;
  for (size_t i = 0; i < 4; ++i) {
    const auto& one = training.variables[0].at(i);
    given.push_back(assign(one, initial_of(one, seed + static_cast<unsigned>(i))).node);
  }
  REQUIRE(in.run(g, {}, {}, {g.initializer()}).status().ok());
  REQUIRE(in.run(g, {}, {}, given).status().ok());
  REQUIRE(in.run(g, {}, {}, {training.synchronize}).status().ok());
  trained found;
  std::mt19937 dice{seed};
  for (int i = 0; i < steps; ++i) {
    auto got = in.run(
        g, {{images, random_tensor(shape{batch, features}, dice)}, {labels, random_labels(dice)}},
        {training.loss}, {training.train});
    REQUIRE(got.status().ok());
    found.losses.push_back(got->front().values<float>()[0]);
  }
  for (const auto& of_replica : training.variables) {
    std::vector<edge> all{of_replica.begin(), of_replica.end()};
    auto values = in.run(g, {}, all);
    REQUIRE(values.status().ok());
    found.variables.push_back(*values);
  }
  return found;
}

bool same_bits(const tensor& a, const tensor& b) {
  return a.type() == b.type() && a.dims() == b.dims() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

} // namespace

TEST_CASE("replicas on any number of devices stay alike, and learn what one device does") {
  watchdog watch{100s};
  std::pair<const char*, optimizer_maker> kinds[] = {
      {"gradient descent", [] { return std::make_unique<gradient_descent>(0.3); }},
      {"momentum", [] { return std::make_unique<momentum>(0.1); }},
      {"adam", [] { return std::make_unique<adam>(0.05); }}};
  for (const auto& [name, by] : kinds) {
    INFO(name);
    devices_session alone{false, 1};
    auto expected = train(alone, by, 12, 7);
    for (auto [gpus, count] : all_kinds()) {
      devices_session session{gpus, count};
      INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
      auto got = train(session, by, 12, 7);
      for (size_t i = 0; i < expected.losses.size(); ++i) // only the order of sums differs
        CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(1e-4));
      for (const auto& of_replica : got.variables)
        for (size_t v = 0; v < of_replica.size(); ++v) {
          CHECK(same_bits(of_replica[v], got.variables[0][v]));
          REQUIRE(of_replica[v].dims() == expected.variables[0][v].dims());
          for (int64_t k = 0; k < of_replica[v].elements(); ++k)
            CHECK(of_replica[v].data<float>()[k] ==
                  Approx(expected.variables[0][v].data<float>()[k]).epsilon(1e-3).margin(1e-4));
        }
    }
  }
}

TEST_CASE("gradients that travel together come to what each comes to on its own") {
  watchdog watch{100s};
  auto by = [] { return std::make_unique<momentum>(0.1); };
  for (auto [gpus, count] : all_kinds())
    for (auto replay : {true, false}) {
      devices_session session{gpus, count, std::random_device{}(), {.replay = replay}};
      INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
      auto alone = train(session, by, 8, 5, {.bucket_bytes = 0});
      for (auto bytes : {64, 150, 1 << 20}) {
        INFO(bytes << " bytes");
        auto together = train(session, by, 8, 5, {.bucket_bytes = bytes});
        CHECK(together.losses == alone.losses);
        for (size_t i = 0; i < alone.variables.size(); ++i)
          for (size_t v = 0; v < alone.variables[i].size(); ++v)
            CHECK(same_bits(together.variables[i][v], alone.variables[i][v]));
      }
      if (!gpus)
        break; // nothing is replayed
    }
}

TEST_CASE("parcels of gradients are of one type, are not too large, and leave nothing behind") {
  auto exchanges_of = [](std::optional<int64_t> bytes, const std::string& kind = "cpu") {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {4, 8}, "x");
    auto training = train_data_parallel(
        g, {concat('/', kind, ":0"), concat('/', kind, ":1")},
        [&](const replica& at) {
          auto part = at.part_of(x);
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
    std::vector<int64_t> sizes; // of what is exchanged on the first device, but for the loss
    for (const auto& at : g.nodes())
      if (at->op().name == "CollectiveReduce" && at->device().ends_with(":0") &&
          at->output_shape(0).rank() > 0)
        sizes.push_back(at->output_shape(0).elements());
    CHECK(training.train);
    return sizes;
  };
  // d, c, wide, b, a: the last first.
  CHECK(exchanges_of(0) == std::vector<int64_t>{1000, 30, 2, 20, 10});
  CHECK(exchanges_of(200) == std::vector<int64_t>{1000, 50, 2, 10});
  CHECK(exchanges_of(1 << 20) == std::vector<int64_t>{1060, 2});
  // What fits depends on the devices.
  CHECK(exchanges_of({}) == std::vector<int64_t>{1060, 2});
  CHECK(exchanges_of({}, "gpu") == std::vector<int64_t>{1060, 2});
  CHECK_THROWS_WITH(exchanges_of(-1), Catch::Contains("must not be negative"));
}

TEST_CASE("gradients may be changed when they are added up, on all replicas alike") {
  watchdog watch;
  data_parallel_options clip{.change = [](const std::vector<variable_gradient>& all) {
    return clip_by_global_norm(all, 0.01);
  }};
  auto by = [] { return std::make_unique<gradient_descent>(1.0); };
  devices_session alone{false, 1}, two{true, 2};
  auto a = train(alone, by, 4, 3, clip), b = train(two, by, 4, 3, clip);
  for (size_t i = 0; i < a.losses.size(); ++i)
    CHECK(b.losses[i] == Approx(a.losses[i]).epsilon(1e-4));
}

TEST_CASE("a replica that fails fails the step, and the next one works") {
  watchdog watch;
  for (auto [gpus, count] : all_kinds()) {
    devices_session session{gpus, count};
    INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
    graph_builder g{simulated_library()};
    auto rows = g.placeholder(dtype::i32, {4}, "rows");
    auto training = train_data_parallel(
        g, session.names(),
        [&](const replica& at) {
          auto table = g.variable(tensor::of<float>({3, 1}, {1, 2, 3}), "table");
          auto scale = g.variable(2.0f, "scale");
          return mean(gather(table, at.part_of(rows)) * scale);
        },
        [] { return std::make_unique<gradient_descent>(0.5); });
    REQUIRE(session.run(g, {}, {}, {g.initializer()}).status().ok());
    REQUIRE(session.run(g, {}, {}, {training.synchronize}).status().ok());
    auto all = [&] {
      std::vector<tensor> found;
      for (const auto& of_replica : training.variables)
        for (const auto& one : of_replica)
          found.push_back(value_or_throw(session.run(g, {}, {one.ref})->front().clone()));
      return found;
    };
    auto before = all();
    auto bad = session.run(g, {{rows, tensor::vector<int32_t>({0, 1, 2, 99})}}, {training.loss},
                           {training.train});
    REQUIRE_FALSE(bad);
    CHECK(bad.status().message().find("99") != std::string::npos);
    auto good = session.run(g, {{rows, tensor::vector<int32_t>({0, 1, 2, 0})}}, {training.loss},
                            {training.train});
    REQUIRE(good.status().ok());
    if (!gpus) { // a GPU tells of a wrong index when it has come there: it may have gone on
      CHECK(good->front().values<float>()[0] == Approx(3.5));
    }
    auto after = all();
    for (size_t i = 0; i + 2 < after.size(); ++i)
      CHECK(same_bits(after[i], after[i + 2])); // two variables in each replica
    CHECK_FALSE(same_bits(before[0], after[0]));
  }
}

TEST_CASE("what cannot be trained on several devices is refused with a reason") {
  graph_builder g;
  auto by = [] { return std::make_unique<gradient_descent>(0.1); };
  auto w = g.variable(1.0f, "w");
  CHECK_THROWS_WITH(train_data_parallel(
                        g, {}, [&](auto&) { return w * 1.0f; }, by),
                    Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(train_data_parallel(
                        g, {"/cpu:0", "/cpu:1"}, [&](auto&) { return w * 1.0f; }, by),
                    Catch::Contains("no variable of replica 0"));
  CHECK_THROWS_WITH(
      train_data_parallel(
          g, {"/cpu:0", "/cpu:1"},
          [&](const replica& at) {
            auto v = g.variable(
                tensor::vector(std::vector<float>(static_cast<size_t>(at.index() + 1), 1.0f)), "v");
            return mean(v * 1.0f);
          },
          by),
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
      [&](const replica& at) {
        CHECK(at.count() == 3);
        CHECK(at.device() == session.names().at(static_cast<size_t>(at.index())));
        built.push_back(at.index());
        auto w = by_handle ? g.resource_variable(2.0f, "w") : g.variable(2.0f, "w");
        return mean(at.part_of(x)) * (by_handle ? read_variable_op(w) : w.ref);
      },
      [&] { return ++optimizers, std::make_unique<gradient_descent>(0.5); });
  CHECK(built == std::vector<int>{0, 1, 2}); // each once, in their order
  CHECK(optimizers == 3);
  CHECK(training.optimizers.size() == 3);
  REQUIRE(session.run(g, {}, {}, {g.initializer()}).status().ok());
  REQUIRE(session.run(g, {}, {}, {training.synchronize}).status().ok());
  auto step = [&](std::vector<float> batch) {
    return session.run(g, {{x, tensor::vector(batch)}}, {training.loss}, {training.train}).status();
  };
  CHECK(step({1, 2, 3, 4}).kind() == error_kind::invalid_argument);
  for (const auto& of_replica : training.variables)
    CHECK(session.run(g, {}, {of_replica.at(0).ref})->front().values<float>()[0] == 2);
  CHECK(step({1, 2, 3}).ok());
  for (const auto& of_replica : training.variables)
    CHECK(session.run(g, {}, {of_replica.at(0).ref})->front().values<float>()[0] == 1);
}

TEST_CASE("helpers for collective operations put one node on each device") {
  watchdog watch;
  for (auto [gpus, count] : all_kinds()) {
    devices_session session{gpus, count};
    INFO(count << (gpus ? " GPUs" : " processors") << ", seed " << session.seed());
    graph_builder g{simulated_library()};
    std::vector<edge> xs;
    for (int i = 0; i < count; ++i) {
      auto on = g.on(session.names()[static_cast<size_t>(i)]);
      xs.push_back(g.constant(tensor::vector<float>({1.0f + static_cast<float>(i), 2, 3, 4})) *
                   1.0f);
    }
    auto fetches = all_reduce(xs, reduce_by::mean);
    for (const auto& list :
         {all_gather(reduce_scatter(xs)), all_reduce(xs), broadcast(xs[0], session.names())})
      fetches.insert(fetches.end(), list.begin(), list.end());
    auto got = session.run(g, {}, fetches);
    REQUIRE(got.status().ok());
    auto n = static_cast<size_t>(count);
    for (size_t i = 0; i < n; ++i) {
      CHECK((*got)[i].values<float>()[0] == Approx(1 + 0.5 * (count - 1)));
      CHECK((*got)[i].values<float>()[3] == Approx(4));
      CHECK(same_bits((*got)[n + i], (*got)[2 * n + i]));
      CHECK((*got)[3 * n + i].values<float>()[0] == 1);
    }
  }
  graph_builder g;
  auto x = g.constant(1.0f);
  CHECK_THROWS_WITH(all_reduce({x, x}), Catch::Contains("must be on a device"));
  auto on = g.on("/cpu:0");
  auto y = g.constant(1.0f);
  CHECK_THROWS_WITH(all_reduce({y, y}), Catch::Contains("another device"));
}

TEST_CASE("gradients go through sums over devices, however often they are taken") {
  watchdog watch;
  devices_session session{false, 2};
  graph_builder g{simulated_library()};
  std::vector<edge> xs, losses;
  for (int i = 0; i < 2; ++i) {
    auto on = g.on(session.names()[static_cast<size_t>(i)]);
    xs.push_back(g.placeholder(dtype::f32, {4}, concat("x", i)));
  }
  auto sums = all_reduce(xs, reduce_by::mean);
  auto parts = reduce_scatter(xs, reduce_by::mean);
  auto joined = all_gather(parts);
  for (size_t i = 0; i < 2; ++i) {
    auto on = g.on(session.names()[i]);
    losses.push_back(sum(square(sums[i]) * static_cast<float>(i + 1)) + sum(square(joined[i])));
  }
  // The loss of each replica on its own, and all at once: in both cases of their sum.
  std::vector<edge> each;
  for (size_t i = 0; i < 2; ++i)
    each.push_back(g.gradients(losses[i], {xs[i]})[0]);
  auto both = g.gradients(losses, xs);
  std::vector<std::pair<edge, tensor>> feeds{{xs[0], tensor::vector<float>({1, 2, 3, 4})},
                                             {xs[1], tensor::vector<float>({5, 4, 3, 2})}};
  for (const auto& fetches : {each, both}) {
    auto got = session.run(g, feeds, fetches);
    REQUIRE(got.status().ok());
    // With m = (x0 + x1) / 2, the sum is (1 + 2) m^2 + 2 m^2, and dm/dx is 1/2.
    for (const auto& one : *got)
      for (size_t k = 0; k < 4; ++k)
        CHECK(one.values<float>()[k] == Approx(0.5 * 2 * 5 * 3));
  }
}

} // namespace troupe::test::data_parallel_test

// Local variables, which are no part of the model: counters of metrics.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

namespace troupe::test::local_variables_test {
namespace {

using Catch::Matchers::Contains;

// One variable of the model, and a metric.
struct counted_model {
  graph_builder g;
  edge x = g.placeholder(dtype::f64, {-1}, "x");
  variable_handle w = g.variable(1.0f, "w");
  metric mean = metrics::mean(g, x);

  void update(session& s, std::vector<double> values) const {
    s.run({{x, tensor::vector(values)}}, {}, {mean.update});
  }
  double value(session& s) const { return to_scalar<double>(s.fetch(mean.value)); }
};

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  auto from = value_or_throw(checkpoint_reader::open(real_files(), path));
  for (const auto& entry : from.manifest().tensors)
    names.push_back(entry.name);
  return names;
}

} // namespace

TEST_CASE("counters of metrics begin at zero, without an initializer, in each session") {
  counted_model counted;
  auto s = session::local();
  CHECK(counted.value(s) == 0);
  counted.update(s, {1, 2, 6});
  CHECK(counted.value(s) == 3);
  s.run(counted.mean.reset);
  CHECK(counted.value(s) == 0);
  counted.update(s, {4});
  s.reset();
  counted_model restored_model;
  restored_model.update(s, {8});
  CHECK(restored_model.value(s) == 8);
  counted.update(s, {2}); // an earlier step
  CHECK(restored_model.value(s) == 5);
}

TEST_CASE("counters of metrics begin at zero on tasks, and again where a task is restarted") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  std::optional<task_process> ps{std::in_place, cluster, task_name{"ps", 0}};
  task_process worker{cluster, {"worker", 0}};
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {-1}, "x");
  metric mean;
  {
    auto placement = g.on("/job:ps/task:0");
    mean = metrics::mean(g, x);
  }
  auto s = session::connect(to_json(cluster));
  auto update = [&](double value) {
    for (int i = 0;; ++i)
      try {
        s.run({{x, tensor::vector(std::vector{value})}}, {}, {mean.update},
              {.timeout = std::chrono::seconds{5}});
        return;
      } catch (const error& thrown) { // until the task has started
        INFO(thrown.what());
        REQUIRE(i < 50);
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
      }
  };
  update(3);
  update(5);
  CHECK(to_scalar<double>(s.fetch(mean.value)) == 4);
  ps.reset();
  ps.emplace(cluster, task_name{"ps", 0});
  update(7);
  CHECK(to_scalar<double>(s.fetch(mean.value)) == 7);
}

TEST_CASE("checkpoints omit local variables, unless they are requested") {
  temporary_folder folder;
  counted_model counted;
  auto s = session::local();
  s.run(counted.g.initializer());
  counted.update(s, {1, 3});
  saver writer{counted.g, folder / "m"};
  CHECK(names_in(writer.save(s, 1)) == std::vector<std::string>{"w"});
  auto* total = counted.g.find("mean/total");
  REQUIRE(total);
  saver full_saver{counted.g, {counted.w, edge{total, 0}}, folder / "all"};
  CHECK(names_in(full_saver.save(s, 1)).size() == 2);
  // Restoring resets the counters.
  REQUIRE(writer.restore(s));
  CHECK(counted.value(s) == 0);
}

TEST_CASE("a checkpoint of a version that saved the counters of metrics is restored") {
  temporary_folder folder;
  counted_model counted;
  auto s = session::local();
  s.run(counted.g.initializer());
  s.run(assign(counted.w, 9.0f).node);
  counted.update(s, {1, 3});
  {
    edge total{counted.g.find("mean/total"), 0}, count{counted.g.find("mean/count"), 0};
    saver{counted.g, {counted.w, total, count}, folder / "m"}.save(s, 5);
  }
  counted_model restored_model;
  auto other_session = session::local();
  saver from{restored_model.g, folder / "m"};
  auto report = from.restore(other_session);
  REQUIRE(report);
  CHECK(report->restored == std::vector<std::string>{"w"});
  CHECK(report->unexpected.empty());
  CHECK(report->missing.empty());
  CHECK(to_scalar<float>(other_session.fetch(restored_model.w)) == 9);
  CHECK(restored_model.value(other_session) == 0);
}

TEST_CASE(
    "a local variable begins with its own value once it is initialized, and averages ignore it") {
  graph_builder g;
  g.variable(1.0f, "w");
  auto local = g.local_variable(tensor::vector<float>({4, 5}), "seen");
  auto s = session::local();
  CHECK(s.fetch(local).values<float>()[1] == 0);
  s.run(g.local_initializer());
  CHECK(s.fetch(local).values<float>()[1] == 5);
  exponential_moving_average averages{0.9};
  averages.track(g, no_op(g));
  CHECK_FALSE(g.find("seen/average"));
  CHECK(g.find("w/average"));
}

TEST_CASE("a GraphDef and a SavedModel keep local variables local") {
  temporary_folder folder;
  counted_model counted;
  auto s = session::local();
  s.run(counted.g.initializer());
  counted.update(s, {2, 4});
  auto bytes = value_or_throw(write_graph_def(counted.g));
  graph_builder read;
  value_or_throw(read_graph_def(std::as_bytes(std::span{bytes}), read));
  saver writer{read, folder / "m"};
  auto other_session = session::local();
  other_session.run(assign(edge{read.find("w"), 0}, 2.0f).node);
  CHECK(names_in(writer.save(other_session, 1)) == std::vector<std::string>{"w"});

  save_saved_model(
      s, counted.g, folder / "saved",
      {.signatures = {{"serving_default",
                       {.inputs = {{"x", counted.x}},
                        .outputs = {{"w", counted.w}, {"mean", counted.mean.value}}}}}});
  graph_builder loaded;
  auto model = load_saved_model(loaded, folder / "saved");
  auto serving = session::local();
  model.initialize(serving);
  const auto& outputs = model.signature("serving_default").outputs;
  CHECK(to_scalar<float>(serving.fetch(outputs.at("w"))) == 1);
  // Like TensorFlow's local variables.
  CHECK(to_scalar<double>(serving.fetch(outputs.at("mean"))) == 0);
  auto files = value_or_throw(
      tensor_bundle_reader::open(real_files(), folder / "saved/variables/variables"));
  CHECK(files.find("w"));
  CHECK_FALSE(files.find("mean/total"));
}

TEST_CASE("replicas count metrics from zero, and resume with a metric more") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  temporary_folder folder;
  replicas_options options;
  options.mode = mode;
  options.workers = mode == replica_mode::all_reduce ? 1 : 2;
  options.ps_tasks = 0;
  if (mode == replica_mode::all_reduce)
    options.worker_devices = {"cpu:0"};
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.checkpoints = folder / "m";
  for (auto last : {6, 12, 18}) {
    options.last_step = last;
    replicas training{[&](graph_builder& g, int number) {
                        auto built = regression::build(g, number);
                        if (last > 6)
                          built.extra_fetches.push_back(metrics::mean(g, built.loss).value);
                        return built;
                      },
                      options};
    auto s = session::local();
    auto report = training.run(s);
    CHECK(report.step == last);
    CHECK(report.restored_from == (last == 6 ? -1 : last - 6));
    for (const auto& name : names_in(report.checkpoint))
      CHECK_THAT(name, !Contains("mean/"));
    if (last > 6)
      CHECK(to_scalar<double>(s.fetch(training.chief().extra_fetches.back())) == 0);
  }
}

} // namespace troupe::test::local_variables_test

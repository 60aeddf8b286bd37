// Checkpoints with the elements of queues: training continues in the middle of its data.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/troupe.hpp"

#include <fstream>

namespace troupe::test::saved_input_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

tensor rows(int count) {
  std::vector<float> result;
  for (int i = 0; i < count; ++i)
    result.push_back(static_cast<float>(i));
  return tensor::vector(result);
}

// Rows in batches, and a variable that depends on their order and on random numbers.
struct model {
  explicit model(std::string_view input_on = "/cpu:0", std::string_view variable_on = "/cpu:0") {
    {
      auto placement = g.on(input_on);
      auto row = input.producer(rows(12), {.epochs = 4, .shuffle = true, .seed = 3});
      batch = input.batch({row}, 2, {.capacity = 4})[0];
      noise = random_uniform(g, tensor::vector<int32_t>({2}), dtype::f32, {.seed = 5});
      loss = mean(batch);
    }
    auto placement = g.on(variable_on);
    w = g.variable(1.0f, "w");
    train = assign(w, w * 1.01f + sum(batch * noise)).node;
  }
  training_options options_for(const std::string& folder) const {
    return {.input = &input,
            .checkpoints = folder,
            .checkpoint_steps = 4,
            .save_input = true,
            .last_step = 20,
            .retry_delay_seconds = 0.001};
  }

  graph_builder g;
  input_pipeline input{g};
  edge batch, noise, loss, w;
  node* train = nullptr;
};

struct killed {};

// Trains, and ends as a killed process does, as far as its files show.
void train_until_killed(model& net, session& s, const std::string& folder, int64_t last_step) {
  auto options = net.options_for(folder);
  options.on_step = [&](const training_progress& now) {
    if (now.step == last_step)
      throw killed{};
  };
  training_run training{net.g, {.loss = net.loss, .train = {net.train}}, options};
  CHECK_THROWS_AS(training.run(s), killed);
}

float train_to_the_end(model& net, session& s, const std::string& folder, int64_t from) {
  training_run training{net.g, {.loss = net.loss, .train = {net.train}}, net.options_for(folder)};
  auto report = training.run(s);
  CHECK(report.restored_from == from);
  CHECK((report.step == 20 && report.end_reason == training_end::last_step));
  return to_scalar<float>(s.fetch(net.w));
}

} // namespace

TEST_CASE("a run that is killed resumes with the rows that would have come, to the bit") {
  watchdog watch;
  temporary_folder folder;
  float expected = 0;
  {
    model net;
    auto s = session::local();
    expected = train_to_the_end(net, s, folder / "whole", -1);
  }
  for (int64_t kill_step : {7, 9, 18}) {
    INFO("killed after step " << kill_step);
    auto path = folder / concat("killed-", kill_step);
    {
      model net;
      auto s = session::local();
      train_until_killed(net, s, path, kill_step);
    }
    model net;
    auto s = session::local();
    CHECK(train_to_the_end(net, s, path, kill_step / 4 * 4) == expected);
  }
}

TEST_CASE("a run over tasks that are all killed resumes with the rows that would have come") {
  watchdog watch;
  temporary_folder folder;
  const auto *worker = "/job:worker/task:1", *ps = "/job:ps/task:0";
  auto with_tasks = [&](auto body) {
    auto cluster = make_cluster(2, 1);
    std::vector<std::unique_ptr<task>> tasks;
    for (const auto& task_of : {task_name{"worker", 0}, task_name{"worker", 1}, task_name{"ps", 0}})
      tasks.push_back(start_task(cluster, task_of));
    auto s = session::connect(cluster, {.timeout = 20s});
    model net{worker, ps};
    return body(net, s);
  };
  auto expected = with_tasks(
      [&](model& net, session& s) { return train_to_the_end(net, s, folder / "whole", -1); });
  with_tasks([&](model& net, session& s) {
    train_until_killed(net, s, folder / "model", 10);
    return 0;
  });
  CHECK(expected == with_tasks([&](model& net, session& s) {
          return train_to_the_end(net, s, folder / "model", 8);
        }));
}

TEST_CASE("each record of files is trained once in each epoch, though its run is stopped twice") {
  watchdog watch;
  temporary_folder folder;
  for (int file = 0; file < 3; ++file) {
    std::ofstream part_file{folder / concat("part-", file)};
    for (int line = 0; line < 20; ++line)
      part_file << file * 20 + line << '\n';
  }
  for (int64_t last : {9, 23, 1000}) {
    graph_builder g;
    input_pipeline input{g};
    auto files = matching_files(g, tensor::scalar(folder / "part-*"));
    auto line = input.records(files, text_lines{}, {.epochs = 2, .seed = 1});
    auto number = string_to_number(line.value, {.out_type = dtype::i64});
    auto shuffled = input.shuffle_batch({number}, 3, {.capacity = 20, .min_after_dequeue = 9});
    auto ready = input.prefetch(shuffled);
    auto visit_counts = g.variable(tensor::vector(std::vector<float>(60, 0.0f)), "counts");
    auto* train = scatter_add(visit_counts, ready[0], tensor::vector<float>({1, 1, 1})).node;
    training_run training{g,
                          {.train = {train}},
                          {.input = &input,
                           .checkpoints = folder / "model",
                           .checkpoint_steps = 5,
                           .save_input = true,
                           .last_step = last}};
    auto s = session::local();
    auto report = training.run(s);
    CHECK(report.step == std::min<int64_t>(last, 40));
    if (last < 1000)
      continue;
    CHECK(report.end_reason == training_end::data_ended);
    auto counts_found = s.fetch(visit_counts);
    for (auto count : counts_found.values<float>())
      CHECK(count == 2);
  }
}

TEST_CASE("queues, readers and tables are saved on request, and missing state is named") {
  temporary_folder folder;
  auto build = [](graph_builder& g) {
    struct parts {
      edge queue, table, lookup, size;
      node *put, *insert;
    };
    parts result;
    result.queue = fifo_queue(g, {dtype::i64}, {}, "numbers");
    result.put = queue_enqueue_many(result.queue, {g.constant(tensor::vector<int64_t>({4, 5}))});
    result.size = queue_size(result.queue);
    result.table = mutable_hash_table(g, dtype::i64, dtype::f32, {}, "weights");
    result.insert = lookup_table_insert(result.table, g.constant(int64_t{3}), g.constant(0.5f));
    result.lookup = lookup_table_find(result.table, g.constant(int64_t{3}), g.constant(0.0f));
    g.variable(1.0f, "w");
    conditional_accumulator(g, dtype::f32, {.shape = shape{}}, "sums");
    return result;
  };
  graph_builder g;
  auto parts = build(g);
  auto s = session::local();
  s.run(g.initializer());
  s.run(parts.put);
  s.run(parts.insert);
  std::vector<std::string> warnings;
  auto warn = [&](const std::string& text) { warnings.push_back(text); };
  saver full_saver{g, folder / "all", {.save_all_state = true, .on_warning = warn}};
  saver partial_saver{g, folder / "some", {.on_warning = warn}};
  for (int64_t step : {1, 2}) {
    full_saver.save(s, step);
    partial_saver.save(s, step);
  }
  REQUIRE(warnings.size() == 1); // once; elements of an ended step are no loss
  CHECK_THAT(warnings[0],
             Contains("some: checkpoints do not have queue 'numbers', table 'weights'"));

  for (const auto* name : {"all", "some"}) {
    INFO(name);
    auto has_all_state = name == std::string_view{"all"};
    graph_builder other_graph;
    auto rebuilt = build(other_graph);
    auto fresh = session::local();
    saver from{other_graph, folder / name, {.save_all_state = true}};
    auto report = from.restore(fresh);
    REQUIRE(report);
    CHECK_THAT(report->not_saved, Contains("accumulator 'sums'"));
    CHECK(report->missing.size() == (has_all_state ? 0 : 3)); // the queue, the keys and the values
    CHECK(to_scalar<int32_t>(fresh.fetch(rebuilt.size)) == (has_all_state ? 2 : 0));
    CHECK(to_scalar<float>(fresh.fetch(rebuilt.lookup)) == (has_all_state ? 0.5f : 0.0f));
  }
}

TEST_CASE("runners pause while their queues are saved, and continue") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(rows(1000), {.epochs = 1, .shuffle = false, .capacity = 10});
  auto batch = input.batch({row}, 10, {.capacity = 30})[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(s.fetch(batch).values<float>()[9] == 9);
  auto elements_left = [&] {
    int64_t element_count = 0;
    // "30 of 30 elements".
    for (const auto& entry : s.state_of().entries)
      element_count += std::stoll(entry.content);
    return element_count;
  };
  coord.run_while_suspended([&] {
    CHECK(elements_left() == 990); // on any task
    CHECK(coord.runs_left() == std::map<std::string, int64_t>{{input.runners()[0].name(), 0},
                                                              {input.runners()[1].name(), -1}});
  });
  CHECK_THROWS_AS(coord.run_while_suspended([] { throw killed{}; }), killed);
  for (int i = 1; i < 100; ++i)
    CHECK(s.fetch(batch).values<float>()[9] == static_cast<float>(10 * i + 9));
  CHECK(error_of([&] { s.fetch(batch); }).kind() == error_kind::out_of_range);
}

TEST_CASE("runners continue though a connection ends before it has resumed their queues") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  relay delaying_relay{worker->port()};
  cluster_spec relayed_cluster;
  relayed_cluster.jobs["worker"] = {concat("127.0.0.1:", delaying_relay.port())};
  auto s = session::connect(relayed_cluster);
  graph_builder g;
  auto placement = g.on("/job:worker/task:0");
  input_pipeline input{g};
  auto row = input.producer(rows(60), {.epochs = 1, .shuffle = false, .capacity = 10});
  auto batch = input.batch({row}, 10, {.capacity = 10})[0];
  coordinator coord;
  input.start(s, coord);
  for (int i = 0; i < 6; ++i) {
    INFO(i);
    CHECK(s.fetch(batch).values<float>()[9] == static_cast<float>(10 * i + 9));
    // Or a request of a link.
    CHECK_NOTHROW(coord.run_while_suspended([&] { delaying_relay.lose_request(); }));
  }
  CHECK(error_of([&] { s.fetch(batch); }).kind() == error_kind::out_of_range);
  CHECK_NOTHROW(coord.join());
}

TEST_CASE("runners whose queues cannot be resumed are asked to stop, with the reason") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto s = session::connect(cluster, {.timeout = 2s});
  graph_builder g;
  auto placement = g.on("/job:worker/task:0");
  input_pipeline input{g};
  input.batch({input.producer(rows(60), {.epochs = 1})}, 10);
  coordinator coord;
  input.start(s, coord);
  auto thrown = error_of([&] { coord.run_while_suspended([&] { worker.reset(); }, 500ms); });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK(coord.should_stop());
  CHECK_THAT(error_of([&] { coord.join(20s); }).what(), Contains("/job:worker/task:0"));
}

TEST_CASE("runners whose task does not answer delay a thread no longer than its timeout") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process worker{cluster, {"worker", 0}};
  auto s = session::connect(cluster, {.cluster = {.peer_timeout = 100s}});
  graph_builder g;
  auto placement = g.on("/job:worker/task:0");
  input_pipeline input{g};
  auto batch = input.batch({input.producer(rows(60), {})}, 10)[0];
  coordinator coord;
  input.start(s, coord);
  s.fetch(batch);
  worker.freeze();
  auto begin = std::chrono::steady_clock::now();
  auto thrown =
      error_of([&] { coord.run_while_suspended([] { FAIL("a runner may run"); }, 500ms); });
  CHECK(thrown.kind() == error_kind::deadline_exceeded);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  worker.kill();
}

TEST_CASE(
    "a run that waits for a queue without producers keeps runners from pausing, and is named") {
  watchdog watch;
  graph_builder g;
  auto never_queue = fifo_queue(g, {dtype::f32}, {}, "never"),
       filled = fifo_queue(g, {dtype::f32}, {}, "filled");
  auto* enqueue = queue_enqueue(filled, queue_dequeue(never_queue, {dtype::f32}));
  auto* bring = queue_enqueue(never_queue, {g.constant(6.0f)});
  auto next = queue_dequeue(filled, {dtype::f32})[0];
  queue_runner runner{filled, {enqueue}};
  auto s = session::local();
  coordinator coord;
  runner.start(s, coord);
  auto thrown = error_of([&] { coord.run_while_suspended([] { FAIL("a runner runs"); }, 50ms); });
  CHECK(thrown.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(thrown.what(), Contains("filled"));
  // Training continues.
  s.run(bring);
  CHECK(to_scalar<float>(s.fetch(next)) == 6);
}

TEST_CASE("tables are filled at each start of a run, also where variables are restored") {
  temporary_folder folder;
  for (int64_t last : {2, 4}) {
    graph_builder g;
    auto table = hash_table(g, dtype::i64, dtype::f32);
    auto* fill =
        initialize_table(table, tensor::vector<int64_t>({1}), tensor::vector<float>({0.5f}));
    auto w = g.variable(0.0f, "w");
    auto value_of_one = lookup_table_find(table, g.constant(int64_t{1}), g.constant(0.0f));
    training_run training{
        g,
        {.train = {assign_add(w, value_of_one).node}},
        {.local_initializer = fill, .checkpoints = folder / "model", .last_step = last}};
    auto s = session::local();
    training.run(s);
    CHECK(to_scalar<float>(s.fetch(w)) == static_cast<float>(last) / 2);
  }
}

TEST_CASE("keeping the input's state requires an input, and a folder of checkpoints") {
  model net;
  auto options = net.options_for("");
  options.checkpoint_steps = 0;
  CHECK_THAT(error_of([&] {
               training_run training{net.g, {.loss = net.loss, .train = {net.train}}, options};
             }).what(),
             Contains("save_input needs an input and a folder of checkpoints"));
}

} // namespace troupe::test::saved_input_test

// Checkpoints with what queues hold: training goes on in the middle of its data.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/troupe.hpp"

#include <fstream>

namespace troupe::test::kept_input_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

tensor rows(int count) {
  std::vector<float> made;
  for (int i = 0; i < count; ++i)
    made.push_back(static_cast<float>(i));
  return tensor::vector(made);
}

// Rows in batches, and a variable that depends on their order, and on random numbers.
struct model {
  explicit model(std::string_view input_on = "/cpu:0", std::string_view variable_on = "/cpu:0") {
    {
      auto on = g.on(input_on);
      auto row = input.producer(rows(12), {.epochs = 4, .shuffle = true, .seed = 3});
      batch = input.batch({row}, 2, {.capacity = 4})[0];
      noise = random_uniform(g, tensor::vector<int32_t>({2}), dtype::f32, {.seed = 5});
      loss = mean(batch);
    }
    auto on = g.on(variable_on);
    w = g.variable(1.0f, "w");
    train = assign(w, w * 1.01f + sum(batch * noise)).node;
  }
  training_options how(const std::string& folder) const {
    return {.input = &input,
            .checkpoints = folder,
            .checkpoint_steps = 4,
            .keep_input = true,
            .last_step = 20,
            .retry_seconds = 0.001};
  }

  graph_builder g;
  input_pipeline input{g};
  edge batch, noise, loss, w;
  node* train = nullptr;
};

struct killed {};

// Ends as a process that is killed does, as far as its files can tell.
void train_until_killed(model& of, session& in, const std::string& folder, int64_t at) {
  auto how = of.how(folder);
  how.on_step = [&](const training_progress& now) {
    if (now.step == at)
      throw killed{};
  };
  training_run training{of.g, {.loss = of.loss, .train = {of.train}}, how};
  CHECK_THROWS_AS(training.run(in), killed);
}

float train_to_the_end(model& of, session& in, const std::string& folder, int64_t from) {
  training_run training{of.g, {.loss = of.loss, .train = {of.train}}, of.how(folder)};
  auto report = training.run(in);
  CHECK(report.restored_from == from);
  CHECK((report.step == 20 && report.why == training_end::last_step));
  return to_scalar<float>(in.fetch(of.w));
}

} // namespace

TEST_CASE("a run that is killed goes on with the rows that would have come, to the bit") {
  watchdog watch;
  temporary_folder folder;
  float expected = 0;
  {
    model of;
    auto s = session::local();
    expected = train_to_the_end(of, s, folder / "whole", -1);
  }
  for (int64_t at : {7, 9, 18}) {
    INFO("killed after step " << at);
    auto path = folder / concat("killed-", at);
    {
      model of;
      auto s = session::local();
      train_until_killed(of, s, path, at);
    }
    model of;
    auto s = session::local();
    CHECK(train_to_the_end(of, s, path, at / 4 * 4) == expected);
  }
}

TEST_CASE("a run over tasks that are all killed goes on with the rows that would have come") {
  watchdog watch;
  temporary_folder folder;
  const auto *worker = "/job:worker/task:1", *ps = "/job:ps/task:0";
  auto with_tasks = [&](auto act) {
    auto cluster = make_cluster(2, 1);
    std::vector<std::unique_ptr<task>> tasks;
    for (const auto& one : {task_name{"worker", 0}, task_name{"worker", 1}, task_name{"ps", 0}})
      tasks.push_back(start_task(cluster, one));
    auto s = session::connect(cluster, {.timeout = 20s});
    model of{worker, ps};
    return act(of, s);
  };
  auto expected = with_tasks(
      [&](model& of, session& s) { return train_to_the_end(of, s, folder / "whole", -1); });
  with_tasks([&](model& of, session& s) {
    train_until_killed(of, s, folder / "model", 10);
    return 0;
  });
  CHECK(expected == with_tasks([&](model& of, session& s) {
          return train_to_the_end(of, s, folder / "model", 8);
        }));
}

TEST_CASE("each record of files is trained once in each epoch, though its run is stopped twice") {
  watchdog watch;
  temporary_folder folder;
  for (int file = 0; file < 3; ++file) {
    std::ofstream out{folder / concat("part-", file)};
    for (int line = 0; line < 20; ++line)
      out << file * 20 + line << '\n';
  }
  for (int64_t last : {9, 23, 1000}) {
    graph_builder g;
    input_pipeline input{g};
    auto files = matching_files(g, tensor::scalar(folder / "part-*"));
    auto line = input.records(files, text_lines{}, {.epochs = 2, .seed = 1});
    auto number = string_to_number(line.value, {.out_type = dtype::i64});
    auto shuffled = input.shuffle_batch({number}, 3, {.capacity = 20, .min_after_dequeue = 9});
    auto ready = input.prefetch(shuffled);
    auto counts = g.variable(tensor::vector(std::vector<float>(60, 0.0f)), "counts");
    auto* train = scatter_add(counts, ready[0], tensor::vector<float>({1, 1, 1})).node;
    training_run training{g,
                          {.train = {train}},
                          {.input = &input,
                           .checkpoints = folder / "model",
                           .checkpoint_steps = 5,
                           .keep_input = true,
                           .last_step = last}};
    auto s = session::local();
    auto report = training.run(s);
    CHECK(report.step == std::min<int64_t>(last, 40));
    if (last < 1000)
      continue;
    CHECK(report.why == training_end::data_ended);
    auto counted = s.fetch(counts);
    for (auto count : counted.values<float>())
      CHECK(count == 2);
  }
}

TEST_CASE("what queues, readers and tables hold is saved on request, and what is not is named") {
  temporary_folder folder;
  auto build = [](graph_builder& g) {
    struct parts {
      edge queue, table, found, size;
      node *put, *insert;
    };
    parts made;
    made.queue = fifo_queue(g, {dtype::i64}, {}, "numbers");
    made.put = queue_enqueue_many(made.queue, {g.constant(tensor::vector<int64_t>({4, 5}))});
    made.size = queue_size(made.queue);
    made.table = mutable_hash_table(g, dtype::i64, dtype::f32, {}, "weights");
    made.insert = lookup_table_insert(made.table, g.constant(int64_t{3}), g.constant(0.5f));
    made.found = lookup_table_find(made.table, g.constant(int64_t{3}), g.constant(0.0f));
    g.variable(1.0f, "w");
    conditional_accumulator(g, dtype::f32, {.shape = shape{}}, "sums");
    return made;
  };
  graph_builder g;
  auto parts = build(g);
  auto s = session::local();
  s.run(g.initializer());
  s.run(parts.put);
  s.run(parts.insert);
  std::vector<std::string> warnings;
  auto warn = [&](const std::string& text) { warnings.push_back(text); };
  saver all{g, folder / "all", {.all_state = true, .on_warning = warn}};
  saver some{g, folder / "some", {.on_warning = warn}};
  for (int64_t step : {1, 2}) {
    all.save(s, step);
    some.save(s, step);
  }
  REQUIRE(warnings.size() == 1); // once; what belongs to a step that is over is no loss
  CHECK_THAT(warnings[0],
             Contains("some: checkpoints do not have queue 'numbers', table 'weights'"));

  for (const auto* name : {"all", "some"}) {
    INFO(name);
    auto whole = name == std::string_view{"all"};
    graph_builder other;
    auto again = build(other);
    auto fresh = session::local();
    saver from{other, folder / name, {.all_state = true}};
    auto report = from.restore(fresh);
    REQUIRE(report);
    CHECK_THAT(report->not_saved, Contains("accumulator 'sums'"));
    CHECK(report->missing.size() == (whole ? 0 : 3)); // the queue; keys and values
    CHECK(to_scalar<int32_t>(fresh.fetch(again.size)) == (whole ? 2 : 0));
    CHECK(to_scalar<float>(fresh.fetch(again.found)) == (whole ? 0.5f : 0.0f));
  }
}

TEST_CASE("runners stand still while what they fill is saved, and go on") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(rows(1000), {.epochs = 1, .shuffle = false, .capacity = 10});
  auto batch = input.batch({row}, 10, {.capacity = 30})[0];
  auto s = session::local();
  coordinator by;
  input.start(s, by);
  CHECK(s.fetch(batch).values<float>()[9] == 9);
  auto left = [&] {
    int64_t all = 0;
    for (const auto& one : s.state_of().entries)
      all += std::stoll(one.content); // "30 of 30 elements"
    return all;
  };
  by.while_suspended([&] {
    CHECK(left() == 990); // wherever they are
    CHECK(by.runs_left() == std::map<std::string, int64_t>{{input.runners()[0].name(), 0},
                                                           {input.runners()[1].name(), -1}});
  });
  CHECK_THROWS_AS(by.while_suspended([] { throw killed{}; }), killed);
  for (int i = 1; i < 100; ++i)
    CHECK(s.fetch(batch).values<float>()[9] == static_cast<float>(10 * i + 9));
  CHECK(error_of([&] { s.fetch(batch); }).kind() == error_kind::out_of_range);
}

TEST_CASE("runners go on though a connection ends before it has told their queues to") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  relay between{worker->port()};
  cluster_spec through;
  through.jobs["worker"] = {concat("127.0.0.1:", between.port())};
  auto s = session::connect(through);
  graph_builder g;
  auto on = g.on("/job:worker/task:0");
  input_pipeline input{g};
  auto row = input.producer(rows(60), {.epochs = 1, .shuffle = false, .capacity = 10});
  auto batch = input.batch({row}, 10, {.capacity = 10})[0];
  coordinator by;
  input.start(s, by);
  for (int i = 0; i < 6; ++i) {
    INFO(i);
    CHECK(s.fetch(batch).values<float>()[9] == static_cast<float>(10 * i + 9));
    CHECK_NOTHROW(by.while_suspended([&] { between.lose_request(); })); // or what a link asks
  }
  CHECK(error_of([&] { s.fetch(batch); }).kind() == error_kind::out_of_range);
  CHECK_NOTHROW(by.join());
}

TEST_CASE("runners whose queues cannot be told to go on are asked to stop, and say why") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto s = session::connect(cluster, {.timeout = 2s});
  graph_builder g;
  auto on = g.on("/job:worker/task:0");
  input_pipeline input{g};
  input.batch({input.producer(rows(60), {.epochs = 1})}, 10);
  coordinator by;
  input.start(s, by);
  auto why = error_of([&] { by.while_suspended([&] { worker.reset(); }, 500ms); });
  CHECK(why.kind() == error_kind::unavailable);
  CHECK(by.should_stop());
  CHECK_THAT(error_of([&] { by.join(20s); }).what(), Contains("/job:worker/task:0"));
}

TEST_CASE("runners whose task does not answer keep no thread waiting beyond its patience") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process worker{cluster, {"worker", 0}};
  auto s = session::connect(cluster, {.cluster = {.peer_timeout = 100s}});
  graph_builder g;
  auto on = g.on("/job:worker/task:0");
  input_pipeline input{g};
  auto batch = input.batch({input.producer(rows(60), {})}, 10)[0];
  coordinator by;
  input.start(s, by);
  s.fetch(batch);
  worker.freeze();
  auto begin = std::chrono::steady_clock::now();
  auto why = error_of([&] { by.while_suspended([] { FAIL("a runner may run"); }, 500ms); });
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  worker.kill();
}

TEST_CASE(
    "a run that waits for a queue of nobody keeps runners from standing still, and is named") {
  watchdog watch;
  graph_builder g;
  auto never = fifo_queue(g, {dtype::f32}, {}, "never"),
       filled = fifo_queue(g, {dtype::f32}, {}, "filled");
  auto* put = queue_enqueue(filled, queue_dequeue(never, {dtype::f32}));
  auto* bring = queue_enqueue(never, {g.constant(6.0f)});
  auto next = queue_dequeue(filled, {dtype::f32})[0];
  queue_runner runner{filled, {put}};
  auto s = session::local();
  coordinator by;
  runner.start(s, by);
  auto why = error_of([&] { by.while_suspended([] { FAIL("a runner runs"); }, 50ms); });
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(why.what(), Contains("filled"));
  // All goes on.
  s.run(bring);
  CHECK(to_scalar<float>(s.fetch(next)) == 6);
}

TEST_CASE("tables are filled at each beginning of a run, also where variables are restored") {
  temporary_folder folder;
  for (int64_t last : {2, 4}) {
    graph_builder g;
    auto table = hash_table(g, dtype::i64, dtype::f32);
    auto* fill =
        initialize_table(table, tensor::vector<int64_t>({1}), tensor::vector<float>({0.5f}));
    auto w = g.variable(0.0f, "w");
    auto one = lookup_table_find(table, g.constant(int64_t{1}), g.constant(0.0f));
    training_run training{
        g,
        {.train = {assign_add(w, one).node}},
        {.local_initializer = fill, .checkpoints = folder / "model", .last_step = last}};
    auto s = session::local();
    training.run(s);
    CHECK(to_scalar<float>(s.fetch(w)) == static_cast<float>(last) / 2);
  }
}

TEST_CASE("what is kept of the input needs an input, and a folder of checkpoints") {
  model of;
  auto how = of.how("");
  how.checkpoint_steps = 0;
  CHECK_THAT(error_of([&] {
               training_run training{of.g, {.loss = of.loss, .train = {of.train}}, how};
             }).what(),
             Contains("keep_input needs an input and a folder of checkpoints"));
}

} // namespace troupe::test::kept_input_test

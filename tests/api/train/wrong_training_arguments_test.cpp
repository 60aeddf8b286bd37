// Wrong arguments of optimizers, training, input pipelines, savers and summaries are errors that
// name the expected and the given value, in every build.
#include "tests/support/catch.hpp"
#include "tests/support/refuses.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::wrong_training_arguments_test {

TEST_CASE("optimizers refuse invalid losses, variables and gradients") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  auto loss = sum(v * v);
  gradient_descent descent{0.1f};
  const edge empty_edge;
  refuses("optimizer::minimize", "the loss is an empty edge", [&] { (void)descent.minimize({}); });
  refuses("optimizer::minimize, variable", "a variable is an empty edge",
          [&] { (void)descent.minimize(loss, {empty_edge}); });
  refuses("optimizer::compute_gradients", "the loss is an empty edge",
          [&] { (void)optimizer::compute_gradients(empty_edge); });
  refuses("optimizer::apply_gradients", "no gradients", [&] { (void)descent.apply_gradients({}); });
  refuses("optimizer::apply_gradients, nothing", "empty edge", [&] {
    (void)descent.apply_gradients({{empty_edge, empty_edge}});
  });
  refuses("optimizer::apply_gradients_if", "the condition must be a scalar of type bool", [&] {
    (void)descent.apply_gradients_if({}, {{v, loss}});
  });
  refuses("optimizer::slot", "the variable is an empty edge",
          [&] { (void)descent.slot({}, "momentum"); });
  refuses("optimizer::slot, name", "there is no slot 'momentum'",
          [&] { (void)descent.slot(v, "momentum"); });
  refuses("global_norm", "", [] { (void)global_norm({}); });
  refuses("global_norm, nothing", "empty edge", [&] { (void)global_norm({empty_edge}); });
  refuses("clip_by_norm", "empty edge", [&] { (void)clip_by_norm(empty_edge, 1.0f); });
  refuses("clip_by_global_norm", "empty edge",
          [&] { (void)clip_by_global_norm(std::vector<edge>{empty_edge}, 1.0f); });
  refuses("clip_by_value", "empty edge", [&] {
    (void)clip_by_value({{v, empty_edge}}, -1.0f, 1.0f);
  });
  refuses("clip_by_norm, gradients", "empty edge", [&] {
    (void)clip_by_norm(gradient_list{{v, empty_edge}}, 1.0f);
  });
  auto scale = loss_scale::constant(g, 8);
  refuses("loss_scale::minimize", "empty edge", [&] { (void)scale.minimize(descent, empty_edge); });
  refuses("loss_scale::compute_gradients", "empty edge",
          [&] { (void)scale.compute_gradients(empty_edge); });
  refuses("loss_scale::apply_gradients", "no gradients",
          [&] { (void)scale.apply_gradients(descent, {}); });
  refuses("all_finite", "there are no gradients",
          [] { (void)all_finite(std::vector<variable_gradient>{}); });
  CHECK_FALSE(slices_of({}).has_value());
  CHECK_FALSE(summed_slices_of({}).has_value());
}

TEST_CASE("loss scales and L-BFGS refuse options that are too small, and an empty loss") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  refuses("loss_scale::constant", "the value must be above 0",
          [&] { (void)loss_scale::constant(g, 0); });
  refuses("loss_scale::dynamic", "the factor must be above 1",
          [&] { (void)loss_scale::dynamic(g, {.factor = 1}); });
  refuses("lbfgs", "the loss is an empty edge", [&] { (void)lbfgs{edge{}}; });
  refuses("lbfgs, memory", "memory and max_trials must be at least 1", [&] {
    (void)lbfgs{sum(v * v), {}, {.memory = 0}};
  });
}

TEST_CASE("learning rates that decay refuse empty steps and invalid numbers of steps") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  auto loss = sum(v * v);
  const edge empty_edge;
  refuses("count_steps", "the training node is null",
          [&] { (void)count_steps(nullptr, step_counter(g)); });
  refuses("count_steps, counter", "the counter is an empty edge",
          [&] { (void)count_steps(v.initializer, {}); });
  refuses("exponential_decay", "`decay_steps` must be above 0",
          [&] { (void)exponential_decay(v, 1, 0, 0.5); });
  refuses("exponential_decay, step", "empty edge",
          [&] { (void)exponential_decay(empty_edge, 1, 10, 0.5); });
  refuses("inverse_time_decay", "`decay_steps` must be above 0",
          [&] { (void)inverse_time_decay(v, 1, -1, 0.5); });
  refuses("polynomial_decay", "`decay_steps` must be above 0",
          [&] { (void)polynomial_decay(v, 1, 0); });
  refuses("cosine_decay", "`decay_steps` must be above 0", [&] { (void)cosine_decay(v, 1, 0); });
  refuses("piecewise_constant", "one more value than boundaries", [&] {
    (void)piecewise_constant(v, {1, 2}, {1});
  });
  refuses("warm_up", "`warm_up_steps` must be above 0", [&] { (void)warm_up(v, loss, 0); });
  refuses("warm_up, rate", "empty edge", [&] { (void)warm_up(v, empty_edge, 3); });
}

TEST_CASE("moving averages refuse invalid nodes, variables and decays") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  exponential_moving_average average{0.9f};
  refuses("exponential_moving_average::track", "a node is null or of another graph",
          [&] { (void)average.track(g, nullptr); });
  refuses("exponential_moving_average::track, variable", "a variable is an empty edge",
          [&] { (void)average.track(g, v.initializer, {variable_handle{}}); });
  refuses("exponential_moving_average(decay)", "the decay must be one number, got 2", [&] {
    (void)exponential_moving_average{{0.1, 0.2}}.track(g, v.initializer);
  });
  refuses("exponential_moving_average::average", "has no moving average",
          [&] { (void)average.average({}); });
}

TEST_CASE("data-parallel training refuses invalid devices, functions and replicas") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  auto loss = sum(v * v);
  refuses("train_data_parallel", "needs at least one device",
          [&] { (void)train_data_parallel(g, {}, {}, {}); });
  refuses("train_data_parallel, model", "the model is an empty function", [&] {
    (void)train_data_parallel(g, {"cpu:0"}, {}, [] { return std::make_unique<adam>(); });
  });
  refuses("train_data_parallel, optimizer", "make_optimizer is an empty function", [&] {
    (void)train_data_parallel(g, {"cpu:0"}, [&](const replica&) { return loss; }, {});
  });
  refuses("data_parallel_training::step_of", "",
          [] { (void)data_parallel_training{}.step_of({"cpu:0"}); });
  refuses("replica::slice_of", "the batch is an empty edge", [] {
    (void)replica{"cpu:0", 0, 1}.slice_of({});
  });
  refuses("replica::slice_of, index", "there is no replica 2 of 2", [&] {
    (void)replica{"cpu:0", 2, 2}.slice_of(v);
  });
}

TEST_CASE("training runs and lists of live tasks refuse empty steps and invalid devices") {
  graph_builder g;
  refuses("training_run", "there are no steps to run", [&] {
    (void)training_run{g, std::vector<training_step>{}, {}};
  });
  refuses("training_run, train", "a target of `train` is null", [&] {
    (void)training_run{g, {.train = {nullptr}}, {}};
  });
  refuses("live_tasks", "needs at least one device",
          [] { (void)live_tasks{std::vector<std::string>{}}; });
  refuses("live_tasks, device", "got 'cpu'", [] { (void)live_tasks{{"cpu"}}; });
  live_tasks tasks{{"/job:worker/task:0/cpu:0"}};
  auto moved = std::move(tasks);
  refuses("live_tasks::add_devices, moved away", "moved from",
          [&] { tasks.add_devices({"/job:worker/task:1"}); });
}

TEST_CASE("queue runners and input pipelines refuse invalid edges, nodes and counts") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2, 3}), "v");
  auto x = g.placeholder(dtype::f32, {3}), element = g.constant(1.0f);
  auto queue = fifo_queue(g, {dtype::f32});
  auto* enqueue = queue_enqueue(queue, {element});
  const edge empty_edge;
  refuses("queue_runner", "needs a queue", [&] { (void)queue_runner{empty_edge, {enqueue}}; });
  refuses("queue_runner, nodes", "needs nodes that fill queue", [&] {
    (void)queue_runner{queue, {nullptr}};
  });
  refuses("queue_runner::also_close", "can close queues only", [&] {
    queue_runner{queue, {enqueue}}.also_close({v});
  });
  coordinator coord;
  refuses("coordinator::run_while_suspended", "the callback is an empty function",
          [&] { coord.run_while_suspended({}); });
  input_pipeline input{g};
  refuses("input_pipeline::producer", "", [&] { (void)input.producer(empty_edge); });
  refuses("input_pipeline::producer, scalar", "rows must have a first axis, got a scalar",
          [&] { (void)input.producer(element); });
  refuses("input_pipeline::records", "", [&] { (void)input.records(empty_edge, text_lines{}); });
  refuses("input_pipeline::records, type", "files must be names, strings, got f32",
          [&] { (void)input.records(x, text_lines{}); });
  refuses("input_pipeline::batch", "needs a count and concurrent_enqueues of at least 1, got 0",
          [&] { (void)input.batch({x}, 0); });
  refuses("input_pipeline::batch, nothing", "no empty edge",
          [&] { (void)input.batch({empty_edge}, 2); });
  refuses("input_pipeline::shuffle_batch", "no empty edge",
          [&] { (void)input.shuffle_batch({}, 2); });
  refuses("input_pipeline::bucket_by_length", "boundaries must increase", [&] {
    (void)input.bucket_by_length(1, {x}, {3, 2}, {4});
  });
  refuses("input_pipeline::bucket_by_length, length", "",
          [&] { (void)input.bucket_by_length(empty_edge, {x}, {3}, {4}); });
  refuses("input_pipeline::prefetch", "capacity must be positive, got 0",
          [&] { (void)input.prefetch({x}, {.capacity = 0}); });
}

TEST_CASE("savers refuse invalid variables, and every call after they moved away") {
  temporary_folder folder;
  graph_builder g;
  g.variable(tensor::vector<float>({1, 2, 3}), "v");
  auto x = g.placeholder(dtype::f32, {3});
  auto* enqueue = queue_enqueue(fifo_queue(g, {dtype::f32}), {g.constant(1.0f)});
  const edge empty_edge;
  saver saves{g, folder.path()};
  refuses("saver", "an empty edge is no variable", [&] {
    (void)saver{g, {empty_edge}, folder.path()};
  });
  refuses("saver, none", "there are no variables to save", [&] {
    (void)saver{g, std::vector<edge>{}, folder.path()};
  });
  refuses("saver::add_saved_value", "needs a value, a placeholder and a node to run",
          [&] { saves.add_saved_value("k", empty_edge, x, enqueue); });
  saves.add_notes({});
  auto s = session::local();
  auto moved_saver = std::move(saves);
  refuses("saver::save, moved away", "", [&] { (void)saves.save(s, 1); });
  refuses("saver::save_async, moved away", "moved away", [&] { saves.save_async(s, 1); });
  refuses("saver::wait, moved away", "moved away", [&] { saves.wait(); });
  refuses("saver::restore, moved away", "moved away", [&] { (void)saves.restore(s); });
  refuses("saver::restore_partial, moved away", "moved away",
          [&] { (void)saves.restore_partial(s); });
  refuses("saver::restore_from, moved away", "moved away",
          [&] { (void)saves.restore_from(s, "x"); });
  refuses("saver::latest_step, moved away", "moved away", [&] { (void)saves.latest_step(); });
  refuses("saver::add_notes, moved away", "moved away", [&] { saves.add_notes({}); });
  refuses("saver::set_step_timeout, moved away", "moved away",
          [&] { saves.set_step_timeout(std::chrono::seconds{1}); });
  refuses("saver::add_saved_value, moved away", "moved away",
          [&] { saves.add_saved_value("k", x, x, enqueue); });
  CHECK_FALSE(saves.is_writing());
  refuses("saver::restore_from", "",
          [&] { (void)moved_saver.restore_from(s, folder.path() + "/none"); });
}

TEST_CASE("summaries and their writers refuse empty edges and invalid tensors") {
  temporary_folder folder;
  graph_builder g;
  const edge empty_edge;
  summaries summary_set;
  refuses("summaries::merged", "there are no summaries yet", [&] { (void)summary_set.merged(); });
  refuses("summaries::scalar", "empty edge", [&] { (void)summary_set.scalar("loss", empty_edge); });
  refuses("summaries::histogram", "empty edge",
          [&] { (void)summary_set.histogram("w", empty_edge); });
  refuses("summaries::images", "empty edge", [&] { (void)summary_set.images("i", empty_edge); });
  refuses("summaries::sounds", "empty edge",
          [&] { (void)summary_set.sounds("s", empty_edge, 44100); });
  summary_set.add(empty_edge);
  refuses("summaries::add", "empty edge", [&] { (void)summary_set.merged(); });
  summary_writer writer{folder.path()};
  refuses("summary_writer::add", "a summary is a string, got f32[3]", [&] {
    writer.add(tensor::vector<float>({1, 2, 3}), 1);
  });
  refuses("summary_writer::add, nothing", "a summary is a string, got none",
          [&] { writer.add(tensor{}, 1); });
  auto open = std::move(writer);
  refuses("summary_writer::add, moved away", "moved away", [&] { writer.add("x", 1, 1); });
  refuses("summary_writer::add_graph, moved away", "moved away", [&] { writer.add_graph(g); });
  refuses("summary_writer::flush, moved away", "moved away", [&] { writer.flush(); });
  refuses("summary_writer::close, moved away", "moved away", [&] { writer.close(); });
  CHECK(writer.path().empty());
}

} // namespace troupe::test::wrong_training_arguments_test

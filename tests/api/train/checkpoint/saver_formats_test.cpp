// Checkpoints: the process that writes them, their formats, and which of them are kept.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/troupe.hpp"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::test::saver_formats_test {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

tensor some_rows() {
  return tensor::from_values<float>(shape{5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}
tensor no_rows() { return tensor::from_values<float>(shape{5, 2}, std::vector<float>(10)); }

// A variable and a partitioned variable, on two tasks if devices are given.
struct model {
  graph_builder g;
  variable_handle step;
  std::optional<partitioned_variable> table;
  node* init = nullptr;

  model(tensor rows, int64_t first, const partition_options& parts = {.slices = 2}) {
    step = g.resource_variable(tensor::scalar(first), "step");
    table.emplace(g, std::move(rows), "table", parts);
    init = g.initializer();
  }
};

void check_restored(model& into, session& s, const std::optional<restore_report>& report) {
  REQUIRE(report);
  CHECK((report->missing.empty() && report->mismatched.empty() && report->unexpected.empty()));
  CHECK(to_scalar<int64_t>(s.fetch(into.step)) == 7);
  CHECK(identical(s.fetch(into.table->value()), some_rows()));
}

} // namespace

TEST_CASE("a saver writes TensorFlow's format on request, and reads both formats") {
  temporary_folder folder;
  auto path = folder / "model";
  model first{some_rows(), 7};
  auto s = session::local();
  s.run(first.init);
  saver writer{first.g, path, {.format = saver_format::tensorflow}};
  CHECK(writer.save(s, 1) == path + "/step-1");
  auto bundle = tensor_bundle_reader::open(real_files(), path + "/step-1/model");
  REQUIRE(bundle);
  CHECK(bundle->find("table")->slices.size() == 2);
  for (int64_t slices : {1, 5}) {
    s.reset();
    model other_model{no_rows(), 0, {.slices = slices}};
    check_restored(other_model, s, saver{other_model.g, path}.restore(s));
  }
}

TEST_CASE("changed bytes in TensorFlow's format are an error with file and tensor") {
  temporary_folder folder;
  auto path = folder / "model";
  model first{some_rows(), 7};
  auto s = session::local();
  s.run(first.init);
  saver writer{first.g, path, {.format = saver_format::tensorflow}};
  writer.save(s, 1);
  auto change = [&](const std::string& file) {
    auto content = *read_whole(real_files(), file);
    content[content.size() / 2] ^= 1;
    std::ofstream{file, std::ios::binary} << content;
  };
  change(path + "/step-1/model.data-00000-of-00001");
  CHECK_THAT(error_text_of([&] { writer.restore(s); }),
             Contains("data_loss") && Contains("model.data") && Contains("tensor '"));
  // An index of another checkpoint is valid by itself.
  model second{no_rows(), 8};
  s.reset();
  s.run(second.init);
  saver{second.g, folder / "other", {.format = saver_format::tensorflow}}.save(s, 1);
  for (auto end : {"model.index", "model.data-00000-of-00001"})
    fs::copy_file(folder / concat("other/step-1/", end), path + "/step-1/" + end,
                  fs::copy_options::overwrite_existing);
  CHECK_THAT(error_text_of([&] { writer.restore(s); }), Contains("differs from the manifest"));
}

TEST_CASE("the best checkpoints are kept, by their metric") {
  temporary_folder folder;
  auto path = folder / "model";
  model net{some_rows(), 7};
  auto s = session::local();
  s.run(net.init);
  auto files_left = [&] {
    std::string names;
    for (int step = 1; step < 9; ++step)
      if (fs::exists(concat(path, "/step-", step, "/manifest.json")))
        names += concat(step, ' ');
    return names;
  };
  auto fill = [&](const saver_options& options) {
    saver writer{net.g, path, options};
    int64_t step = 0;
    for (auto metric : {0.5, 0.9, 0.1, 0.9, 0.3})
      writer.save(s, ++step, metric);
    writer.save(s, 6);
    writer.save_async(s, 7, 0.2);
    writer.wait();
    return files_left();
  };
  SECTION("higher") { CHECK(fill({.keep_newest = 2, .keep_best = 2}) == "2 4 6 7 "); }
  SECTION("lower") {
    CHECK(fill({.keep_newest = 1, .keep_best = 2, .lower_is_better = true}) == "3 7 ");
  }
  SECTION("and all the newest, without a number") {
    CHECK(fill({.keep_newest = 0, .keep_best = 1}) == "1 2 3 4 5 6 7 ");
  }
}

TEST_CASE("extra values are stored in a checkpoint and returned") {
  temporary_folder folder;
  graph_builder g;
  auto w = g.variable(1.0f, "w"),
       position_variable = g.variable(tensor::vector<int64_t>({5, 6}), "other");
  auto fed = g.placeholder(dtype::i64, shape{2}, "given");
  auto* set = assign(position_variable, fed).node;
  auto s = session::local();
  s.run(g.initializer());
  saver writer{g, {w.ref}, folder / "model"};
  writer.add_saved_value("position", position_variable, fed, set);
  CHECK_THAT(error_text_of([&] { writer.add_saved_value("w", position_variable, fed, set); }),
             Contains("saved already"));
  CHECK_THROWS_AS(writer.add_saved_value("nothing", {}, fed, set), error);
  writer.save(s, 1);
  s.run(assign_add(position_variable, tensor::vector<int64_t>({1, 1})).node);
  auto report = writer.restore(s);
  REQUIRE(report);
  CHECK(report->restored == std::vector<std::string>{"position", "w"});
  CHECK(to_string(s.fetch(position_variable)) == "i64[2] {5, 6}");
  saver single_saver{g, {w.ref}, folder / "model"};
  CHECK(single_saver.restore(s)->unexpected == std::vector<std::string>{"position"});
}

TEST_CASE("a random generator continues from the checkpoint") {
  temporary_folder folder;
  graph_builder g;
  auto state = g.resource_variable(tensor::vector<int64_t>({0, 0, 7}), "generator");
  auto noise = stateful_uniform(g, state, int64_t{1}, tensor::vector<int64_t>({100}));
  auto s = session::local();
  s.run(g.initializer());
  saver writer{g, folder / "model"};
  auto first = s.fetch(noise);
  writer.save(s, 1);
  auto second = s.fetch(noise), third = s.fetch(noise);
  CHECK_FALSE(identical(first, second));
  CHECK_FALSE(identical(second, third));
  s.reset();
  REQUIRE(writer.restore(s));
  CHECK(identical(s.fetch(noise), second));
  CHECK(identical(s.fetch(noise), third));
}

TEST_CASE("a checkpoint reports whether it fits the graph") {
  temporary_folder folder;
  auto s = session::local();
  auto restored = [&](float factor) {
    graph_builder g;
    auto w = g.variable(1.0f, "w");
    (void)(w * factor);
    saver tested_saver{g, folder / "model"};
    s.run(g.initializer());
    auto report = tested_saver.restore(s);
    tested_saver.save(s, 1);
    return !report || report->same_graph;
  };
  CHECK(restored(2));
  CHECK(restored(2));
  CHECK_FALSE(restored(3));
}

TEST_CASE("a task saves and restores its state, in a session of one process") {
  temporary_folder folder;
  auto path = folder / "model";
  model first{some_rows(), 7};
  auto s = session::local();
  s.run(first.init);
  saver writer{first.g, path, {.sharded_by_task = true}};
  writer.add_saved_value("extra", first.g.constant(3.0f), first.g.placeholder(dtype::f32),
                         first.g.group({}));
  CHECK(!writer.restore(s));
  auto written = writer.save(s, 3);
  CHECK(fs::exists(written + "/model.index"));
  writer.save_async(s, 4);
  writer.wait();
  size_t file_count = 0;
  for (const auto& file : fs::recursive_directory_iterator{path})
    file_count += file.path().filename().string().starts_with("probe") ||
                  file.path().filename().string().starts_with("part");
  CHECK(file_count == 0);
  s.reset();
  model same_model{no_rows(), 0};
  saver from{same_model.g, path, {.sharded_by_task = true}};
  auto report = from.restore(s);
  REQUIRE(report);
  CHECK(report->step == 4);
  CHECK(report->unexpected == std::vector<std::string>{"extra"});
  CHECK(identical(s.fetch(same_model.table->value()), some_rows()));
  // A checkpoint that the client has written is read by the client.
  saver{same_model.g, folder / "other"}.save(s, 1);
  s.reset();
  model second_model{no_rows(), 0};
  check_restored(second_model, s,
                 saver{second_model.g, folder / "other", {.sharded_by_task = true}}.restore(s));
}

TEST_CASE("tasks write shards of one checkpoint, which other tasks restore") {
  watchdog watch;
  temporary_folder folder;
  auto cluster = make_cluster(1, 2);
  std::vector<task_process> tasks;
  for (const auto& task_of : {task_name{"worker", 0}, task_name{"ps", 0}, task_name{"ps", 1}})
    tasks.emplace_back(cluster, task_of);
  auto path = folder / "model";
  const partition_options two{.slices = 2, .devices = {"/job:ps/task:0", "/job:ps/task:1"}};
  {
    model first{some_rows(), 7, two};
    auto s = session::connect(cluster);
    s.run(first.init);
    saver writer{first.g, path, {.sharded_by_task = true}};
    auto written = writer.save(s, 1);
    CHECK(fs::exists(written + "/model.data-00002-of-00003")); // one for each task
    auto bundle = tensor_bundle_reader::open(real_files(), written + "/model");
    REQUIRE(bundle);
    CHECK(identical(*bundle->read("table"), some_rows()));
    s.reset();
    model second_model{no_rows(), 0, {.slices = 3, .devices = {"/job:ps/task:1"}}};
    check_restored(second_model, s,
                   saver{second_model.g, path, {.sharded_by_task = true}}.restore(s));
  }
  // A folder name that leads to another folder in each process.
  auto folder_descriptor = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::dup3(folder_descriptor, 750, O_CLOEXEC) == 750);
  model first{some_rows(), 7, two};
  auto s = session::connect(cluster);
  s.run(first.init);
  saver writer{first.g, "/proc/self/fd/750/unshared", {.sharded_by_task = true}};
  CHECK_THAT(error_text_of([&] { writer.restore(s); }),
             Contains("failed_precondition") &&
                 Contains("not visible to the task of the variables") &&
                 Contains("saver_options.sharded_by_task"));
  ::close(750);
  ::close(folder_descriptor);
}

} // namespace troupe::test::saver_formats_test

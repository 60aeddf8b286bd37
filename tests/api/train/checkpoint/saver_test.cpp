#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace troupe::test::saver_test {

namespace {

// Fits a line, with an optimizer that has variables of its own.
struct line {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, shape{4}, "x");
  variable_handle w = g.variable(0.5f, "w"), b = g.variable(0.0f, "b");
  node* train = [this] {
    auto loss = mean(square(w * x + b - x * 3.0f - 1.0f), {0});
    return adam{0.1f}.minimize(loss);
  }();
  node* init = g.initializer();
  tensor data = tensor::vector<float>({-1, 0, 1, 2});

  void steps(session& s, int count) {
    for (int i = 0; i < count; ++i)
      s.run({{x, data}}, {}, {train});
  }
};

} // namespace

TEST_CASE("training that resumes from a checkpoint gives the same bits as uninterrupted training") {
  temporary_folder folder;
  line first;
  auto s = session::local();
  saver writer{first.g, folder.path() + "/model"};
  CHECK(!writer.restore(s));
  s.run(first.init);
  first.steps(s, 10);
  auto path = writer.save(s, 10);
  CHECK(path.ends_with("model/step-10"));
  first.steps(s, 10);
  auto expected = s.fetch(first.w);
  line restored_model;
  auto other_session = session::local();
  saver from{restored_model.g, folder.path() + "/model"};
  CHECK(from.latest_step() == 10);
  auto report = from.restore(other_session);
  REQUIRE(report);
  CHECK(report->step == 10);
  CHECK(report->restored.size() >= 6); // with the optimizer's variables
  CHECK((report->missing.empty() && report->unexpected.empty() && report->mismatched.empty()));
  restored_model.steps(other_session, 10);
  CHECK(to_scalar<float>(other_session.fetch(restored_model.w)) == to_scalar<float>(expected));
}

TEST_CASE("a run that resumes draws the random numbers that would have come") {
  temporary_folder folder;
  struct noisy {
    graph_builder g;
    variable_handle w = g.variable(fill(g, tensor::vector<int>({8}), 1.0f), "w");
    edge next = assign_add(w, random_uniform(g, {8}, dtype::f32) + dropout(w, 0.5));
    node* init = g.initializer();
  };
  auto sharded_by_task = GENERATE(false, true);
  noisy first, restored_model;
  auto s = session::local(), other_session = session::local();
  saver writer{first.g, folder.path() + "/model", {.sharded_by_task = sharded_by_task}};
  s.run(first.init);
  for (int i = 0; i < 3; ++i)
    s.run(first.next.node);
  writer.save(s, 3);
  s.run(first.next.node);
  auto expected = s.fetch(first.w);
  saver from{restored_model.g, folder.path() + "/model", {.sharded_by_task = sharded_by_task}};
  REQUIRE(from.restore(other_session));
  other_session.run(restored_model.next.node);
  CHECK(identical(other_session.fetch(restored_model.w), expected));
  auto manifest = read_manifest(real_files(), folder.path() + "/model/step-3/manifest.json");
  REQUIRE(manifest);
  CHECK(manifest->incarnations.size() == 1);
  CHECK(manifest->incarnations.begin()->first == "/job:local/task:0");
  CHECK(manifest->positions.size() == 2);
}

TEST_CASE("a background save has the values of the time of its request") {
  temporary_folder folder;
  graph_builder g;
  auto v = g.variable(fill(g, tensor::vector<int>({1 << 20}), 1.0f), "v");
  auto add_node = assign_add(v, fill(g, tensor::vector<int>({1 << 20}), 1.0f)).node;
  auto s = session::local();
  s.run(g.initializer());
  saver writer{g, folder.path() + "/model"};
  for (int step = 1; step <= 5; ++step) {
    writer.save_async(s, step);
    s.run(add_node);
  }
  writer.wait();
  CHECK(writer.latest_step() == 5);
  auto report = writer.restore(s);
  REQUIRE(report);
  auto restored_value = s.fetch(v);
  CHECK(std::ranges::all_of(restored_value.values<float>(),
                            [](float number) { return number == 5.0f; }));
}

TEST_CASE("a checkpoint that does not fit the graph reports the differences, and changes nothing") {
  temporary_folder folder;
  auto s = session::local();
  {
    graph_builder g;
    g.variable({1.0f, 2.0f}, "w");
    g.variable(3.0f, "old");
    g.variable(4.0f, "same");
    s.run(g.initializer());
    saver{g, folder.path() + "/model"}.save(s, 1);
  }
  s.reset();
  graph_builder g;
  auto w = g.variable({7.0f, 8.0f, 9.0f}, "w");
  auto fresh = g.variable(6.0f, "fresh"), unchanged = g.variable(5.0f, "same");
  s.run(g.initializer());
  saver from{g, folder.path() + "/model"};
  try {
    from.restore(s);
    FAIL("it fits");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::failed_precondition);
    for (auto part : {"fresh: is not in the checkpoint",
                      "w: f32[3] in the graph, f32[2] in the checkpoint", "step-1"})
      CHECK(std::string{thrown.what()}.find(part) != std::string::npos);
  }
  CHECK(to_scalar<float>(s.fetch(unchanged)) == 5.0f);
  auto report = from.restore_partial(s);
  REQUIRE(report);
  CHECK(report->restored == std::vector<std::string>{"same"});
  CHECK(report->missing == std::vector<std::string>{"fresh"});
  CHECK(report->unexpected == std::vector<std::string>{"old"});
  CHECK(report->mismatched.size() == 1);
  CHECK(to_scalar<float>(s.fetch(unchanged)) == 4.0f);
  CHECK(to_scalar<float>(s.fetch(fresh)) == 6.0f);
  CHECK(s.fetch(w).values<float>()[0] == 7.0f);
}

TEST_CASE("a variable in slices is restored into other slices, or as a whole") {
  temporary_folder folder;
  auto s = session::local();
  auto numbers = tensor::from_values<float>(shape{5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  {
    graph_builder g;
    partitioned_variable table{g, numbers, "table", {.slices = 3}};
    s.run(g.initializer());
    saver{g, folder.path() + "/model"}.save(s, 1);
  }
  for (int64_t slices : {1, 2, 5}) {
    s.reset();
    graph_builder g;
    partitioned_variable table{g,
                               tensor::from_values<float>(shape{5, 2}, std::vector<float>(10)),
                               "table",
                               {.slices = slices}};
    auto report = saver{g, folder.path() + "/model"}.restore(s);
    REQUIRE(report);
    auto restored_value = s.fetch(table.value());
    CHECK(std::ranges::equal(restored_value.values<float>(), numbers.values<float>()));
  }
  s.reset();
  graph_builder g;
  auto whole_table = g.variable(dtype::f32, shape{5, 2}, "table");
  REQUIRE(saver{g, folder.path() + "/model"}.restore(s));
  CHECK(std::ranges::equal(s.fetch(whole_table).values<float>(), numbers.values<float>()));
}

TEST_CASE("incomplete checkpoints of a crash are not listed, and are removed") {
  temporary_folder folder;
  graph_builder g;
  g.variable(1.0f, "v");
  auto s = session::local();
  s.run(g.initializer());
  { saver{g, folder.path() + "/model"}.save(s, 1); }
  auto draft = folder.path() + "/model/writing-step-2";
  std::filesystem::create_directories(draft);
  std::ofstream{draft + "/tensors.safetensors"} << "half";
  saver writer{g, folder.path() + "/model", {.keep_newest = 2}};
  CHECK(writer.latest_step() == 1);
  for (int step = 2; step < 6; ++step)
    writer.save(s, step);
  CHECK(!std::filesystem::exists(draft));
  CHECK(!std::filesystem::exists(folder.path() + "/model/step-3"));
  CHECK(std::filesystem::exists(folder.path() + "/model/step-4/manifest.json"));
}

TEST_CASE("a saver refuses graphs that it cannot save") {
  temporary_folder folder;
  graph_builder g;
  CHECK_THROWS_AS(saver(g, folder.path() + "/model"), error); // no variables
  auto v = g.variable(1.0f, "v");
  CHECK_THROWS_AS(saver(g, std::vector<edge>{v * 2.0f}, folder.path() + "/model"), error);
  auto s = session::local();
  saver writer{g, folder.path() + "/model"};
  CHECK_THROWS_AS(writer.save(s, 1), error); // it has no value
  CHECK(!writer.latest_step());
  s.run(g.initializer());
  std::ofstream{folder.path() + "/file"} << "in the way";
  saver blocked{g, std::vector<edge>{v}, folder.path() + "/file"};
  CHECK_THROWS_AS(blocked.save(s, 1), error);
  blocked.save_async(s, 1);
  CHECK_THROWS_AS(blocked.wait(), error);
}

} // namespace troupe::test::saver_test

// Variables restored from files of other programs.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/arrays/npz.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::restore_from_test {

using Catch::Matchers::Contains;

namespace {

struct model {
  graph_builder g;
  edge w = g.variable(tensor::vector<float>({0, 0}), "layer/w");
  edge b = g.variable(0.0f, "layer/b");
  std::vector<float> values(session& s) {
    auto results = s.run({}, {w, b});
    return {results[0].data<float>()[0], results[0].data<float>()[1], *results[1].data<float>()};
  }
};

const tensor w = tensor::vector<float>({1, 2}), b = tensor::scalar(3.0f);

} // namespace

TEST_CASE("variables take their values from files of others, by the names in those files") {
  temporary_folder folder;
  REQUIRE(
      write_npz(real_files(), folder / "keras.npz",
                std::vector{std::pair{std::string{"kernel"}, w}, std::pair{std::string{"bias"}, b},
                            std::pair{std::string{"unused"}, b}}));
  auto bundle = tensor_bundle_writer::begin(real_files(), folder / "model.ckpt");
  REQUIRE(bundle);
  REQUIRE(bundle->add("layer/w", w));
  REQUIRE(bundle->add("layer/b", b));
  REQUIRE(bundle->finish());
  {
    model net;
    auto s = session::local();
    saver writer{net.g, folder / "ours"};
    auto report =
        writer.restore_from(s, folder / "keras.npz", {.name_in_file = [](const std::string& name) {
                              return std::string{name == "layer/w" ? "kernel" : "bias"};
                            }});
    CHECK(report.restored == std::vector<std::string>{"layer/w", "layer/b"});
    CHECK(report.unexpected == std::vector<std::string>{"unused"});
    CHECK(net.values(s) == std::vector<float>{1, 2, 3});
    writer.save(s, 1);
  }
  for (const auto* name : {"model.ckpt", "ours", "ours/step-1"}) {
    INFO(name);
    model net;
    auto s = session::local();
    saver writer{net.g, folder / "other"};
    CHECK(writer.restore_from(s, folder / name).restored.size() == 2);
    CHECK(net.values(s) == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("mismatched values are an error that changes nothing, or are omitted on request") {
  temporary_folder folder;
  REQUIRE(write_npz(real_files(), folder / "x.npz",
                    std::vector{std::pair{std::string{"layer/w"}, tensor::vector<float>({1, 2, 3})},
                                std::pair{std::string{"layer/b"}, b}}));
  model net;
  auto s = session::local();
  s.run(net.g.initializer());
  saver writer{net.g, folder / "ours"};
  auto thrown = error_of([&] { writer.restore_from(s, folder / "x.npz"); });
  CHECK(thrown.kind() == error_kind::failed_precondition);
  CHECK_THAT(thrown.what(), Contains("layer/w: f32[2] in the graph, f32[3] in the checkpoint"));
  CHECK(net.values(s) == std::vector<float>{0, 0, 0});
  auto report = writer.restore_from(s, folder / "x.npz", {.partial = true});
  CHECK(report.mismatched.size() == 1);
  CHECK(net.values(s) == std::vector<float>{0, 0, 3});
  CHECK_THAT(error_of([&] { writer.restore_from(s, folder / "none"); }).what(), Contains("none"));
  CHECK_THAT(error_of([&] {
               writer.restore_from(s, folder / "x.npz",
                                   {.name_in_file = [](auto&) { return "w"; }});
             }).what(),
             Contains("layer/b ('w' there): is not in the checkpoint"));
}

TEST_CASE("slices take their parts of a whole variable that another program has saved") {
  temporary_folder folder;
  auto rows = tensor::from_values<float>(shape{3, 2}, {1, 2, 3, 4, 5, 6});
  REQUIRE(write_npz(real_files(), folder / "x.npz",
                    std::vector{std::pair{std::string{"table"}, rows}}));
  graph_builder g;
  partitioned_variable table{
      g, tensor::from_values<float>(shape{3, 2}, {0, 0, 0, 0, 0, 0}), "table", {.slices = 2}};
  saver writer{g, folder / "ours"};
  auto s = session::local();
  writer.restore_from(s, folder / "x.npz");
  std::vector<float> restored_values;
  for (const auto& part : table.slices()) {
    auto restored = s.fetch(part.ref);
    for (auto value : restored.values<float>())
      restored_values.push_back(value);
  }
  CHECK(restored_values == std::vector<float>{1, 2, 3, 4, 5, 6});
}

} // namespace troupe::test::restore_from_test

// Variables take the values that others have saved.
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
  std::vector<float> values(session& in) {
    auto found = in.run({}, {w, b});
    return {found[0].data<float>()[0], found[0].data<float>()[1], *found[1].data<float>()};
  }
};

const tensor w = tensor::vector<float>({1, 2}), b = tensor::scalar(3.0f);

} // namespace

TEST_CASE("variables take their values from files of others, by the names that these have there") {
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
    model of;
    auto s = session::local();
    saver to{of.g, folder / "ours"};
    auto report =
        to.restore_from(s, folder / "keras.npz", {.name_there = [](const std::string& name) {
                          return std::string{name == "layer/w" ? "kernel" : "bias"};
                        }});
    CHECK(report.restored == std::vector<std::string>{"layer/w", "layer/b"});
    CHECK(report.extra == std::vector<std::string>{"unused"});
    CHECK(of.values(s) == std::vector<float>{1, 2, 3});
    to.save(s, 1);
  }
  for (const auto* name : {"model.ckpt", "ours", "ours/step-1"}) {
    INFO(name);
    model of;
    auto s = session::local();
    saver to{of.g, folder / "other"};
    CHECK(to.restore_from(s, folder / name).restored.size() == 2);
    CHECK(of.values(s) == std::vector<float>{1, 2, 3});
  }
}

TEST_CASE("values that do not fit are an error that changes nothing, or are left out on request") {
  temporary_folder folder;
  REQUIRE(write_npz(real_files(), folder / "x.npz",
                    std::vector{std::pair{std::string{"layer/w"}, tensor::vector<float>({1, 2, 3})},
                                std::pair{std::string{"layer/b"}, b}}));
  model of;
  auto s = session::local();
  s.run(of.g.initializer());
  saver to{of.g, folder / "ours"};
  auto why = error_of([&] { to.restore_from(s, folder / "x.npz"); });
  CHECK(why.kind() == error_kind::failed_precondition);
  CHECK_THAT(why.what(), Contains("layer/w: f32[2] in the graph, f32[3] in the checkpoint"));
  CHECK(of.values(s) == std::vector<float>{0, 0, 0});
  auto report = to.restore_from(s, folder / "x.npz", {.partly = true});
  CHECK(report.unequal.size() == 1);
  CHECK(of.values(s) == std::vector<float>{0, 0, 3});
  CHECK_THAT(error_of([&] { to.restore_from(s, folder / "none"); }).what(), Contains("none"));
  CHECK_THAT(error_of([&] {
               to.restore_from(s, folder / "x.npz", {.name_there = [](auto&) { return "w"; }});
             }).what(),
             Contains("layer/b ('w' there): is not in the checkpoint"));
}

TEST_CASE("slices take their parts of a whole that others have saved") {
  temporary_folder folder;
  auto rows = tensor::of<float>(shape{3, 2}, {1, 2, 3, 4, 5, 6});
  REQUIRE(write_npz(real_files(), folder / "x.npz",
                    std::vector{std::pair{std::string{"table"}, rows}}));
  graph_builder g;
  partitioned_variable table{
      g, tensor::of<float>(shape{3, 2}, {0, 0, 0, 0, 0, 0}), "table", {.slices = 2}};
  saver to{g, folder / "ours"};
  auto s = session::local();
  to.restore_from(s, folder / "x.npz");
  std::vector<float> found;
  for (const auto& part : table.slices()) {
    auto restored = s.fetch(part.ref);
    for (auto value : restored.values<float>())
      found.push_back(value);
  }
  CHECK(found == std::vector<float>{1, 2, 3, 4, 5, 6});
}

} // namespace troupe::test::restore_from_test

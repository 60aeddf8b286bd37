// IDX files, such as MNIST's, as records of one length after a header: docs/training/input.md, From
// files.
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::idx_records_test {

TEST_CASE("IDX files are read as records, images and labels together, for several epochs") {
  watchdog watch;
  temporary_folder folder;
  constexpr int count = 10, pixels = 4;
  std::string images(16, '\0'), labels(8, '\0');
  for (int i = 0; i < count; ++i) {
    images += std::string(pixels, static_cast<char>(i * 25));
    labels += static_cast<char>(i);
  }
  REQUIRE(write_file(folder / "images", images));
  REQUIRE(write_file(folder / "labels", labels));

  graph_builder g;
  input_pipeline input{g};
  const records_options in_order{.epochs = 3, .shuffle = false};
  auto file = [&](const char* name) { return tensor::vector<std::string>({folder / name}); };
  auto image_bytes =
      input.records(file("images"), byte_records{.bytes = pixels, .head = 16}, in_order);
  auto label_bytes = input.records(file("labels"), byte_records{.bytes = 1, .head = 8}, in_order);
  auto image =
      reshape(cast(decode_raw(image_bytes.value, dtype::u8), dtype::f32) / 255.0f, {pixels});
  auto label = reshape(cast(decode_raw(label_bytes.value, dtype::u8), dtype::i32),
                       tensor::vector<int32_t>({}));
  auto batch = input.shuffle_batch({image, label}, 5, {.capacity = 20, .min_after_dequeue = 5});
  // Counts the rows whose pixels match their label, and adds up the labels.
  auto expected = cast(batch[1], dtype::f32) * 25.0f / 255.0f;
  auto differs = abs(mean(batch[0], {1}) - expected);
  auto right_count = g.variable(0.0f, "right"), total = g.variable(0, "total");
  auto* train = g.group({assign_add(right_count, sum(cast(less(differs, 1e-4f), dtype::f32))).node,
                         assign_add(total, sum(batch[1])).node});
  auto s = session::local();
  training_run training{g, {.train = {train}}, {.input = &input}};
  auto report = training.run(s);
  CHECK(report.end_reason == training_end::data_ended);
  CHECK(report.step == 3 * count / 5);
  CHECK(to_scalar<float>(s.fetch(right_count)) == 3 * count);
  CHECK(to_scalar<int>(s.fetch(total)) == 3 * 45);
}

} // namespace troupe::test::idx_records_test

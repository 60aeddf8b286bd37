#include "tests/support/catch.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace troupe::test::checkpoint_folder_test {

namespace {

std::vector<checkpoint_item> items_of(int64_t step) {
  auto value = static_cast<float>(step);
  return {{"w", tensor::vector<float>({value, value, value})},
          {"texts", tensor::vector<std::string>({concat("step ", step), ""})},
          {"big/part", tensor::from_values<float>(shape{2, 2}, {value, 1, 2, 3}),
           manifest_slice{shape{3, 2}, {0, 0}}},
          {"big/part", tensor::from_values<float>(shape{1, 2}, {4, 5}),
           manifest_slice{shape{3, 2}, {2, 0}}}};
}

result<std::string> save(checkpoint_folder& to, int64_t step) {
  checkpoint_manifest manifest;
  manifest.step = step;
  manifest.positions["reader"] = concat(step);
  return to.save(std::move(manifest), items_of(step));
}

// The same with a writer task per shard, joined to one checkpoint.
result<std::string> save_by_tasks(checkpoint_folder& to, file_system& files, int64_t step) {
  checkpoint_manifest manifest;
  manifest.step = step;
  manifest.positions["reader"] = concat(step);
  return to.save(
      std::move(manifest), [&](const std::string& draft, checkpoint_manifest& about) -> status {
        std::vector<std::string> parts;
        for (const auto& item : items_of(step)) {
          parts.push_back(path_in(draft, concat("part-", parts.size())));
          TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(files, parts.back(), true));
          TROUPE_TRY(add_item(writer, item));
          TROUPE_TRY(writer.finish());
        }
        auto prefix = path_in(draft, bundle_name);
        TROUPE_TRY(merge_tensor_bundles(files, parts, prefix));
        TROUPE_ASSIGN(auto merged, tensor_bundle_reader::open(files, prefix));
        about.tensors = manifest_entries(merged, concat(bundle_name, ".index"));
        return {};
      });
}

// The step of the latest checkpoint, whose tensors are verified; nullopt where there is none.
std::optional<int64_t> loaded(file_system& files, const checkpoint_folder& from) {
  auto name = from.latest();
  if (!name) {
    CHECK(name.status().kind() == error_kind::not_found);
    return {};
  }
  auto reader = checkpoint_reader::open(files, from.path_of(*name));
  REQUIRE(reader);
  REQUIRE(reader->verify());
  auto step = reader->manifest().step;
  CHECK(*reader->read("w")->data<float>() == static_cast<float>(step));
  CHECK(*reader->read("texts")->data<std::string>() == concat("step ", step));
  CHECK(reader->manifest().positions.at("reader") == concat(step));
  return step;
}

} // namespace

TEST_CASE("a checkpoint restores what was saved, with slices joined or separate") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "run/model"};
  CHECK(!loaded(disk, to));
  REQUIRE(save(to, 7));
  CHECK(loaded(disk, to) == 7);
  auto reader = *checkpoint_reader::open(disk, to.path_of(*to.latest()));
  auto full = *reader.read("big/part");
  CHECK(full.dims() == shape{3, 2});
  CHECK(std::ranges::equal(full.values<float>(), std::vector<float>{7, 1, 2, 3, 4, 5}));
  auto part = *reader.read_part("big/part", {1, 1}, shape{2, 1});
  CHECK(std::ranges::equal(part.values<float>(), std::vector<float>{3, 5}));
  CHECK(reader.read("none").status().kind() == error_kind::not_found);
  CHECK(!reader.read_part("big/part", {2, 0}, shape{2, 2}));
}

TEST_CASE("saving a step again makes another checkpoint, which is the latest") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  CHECK(*save(to, 7) == "step-7");
  CHECK(*save(to, 7) == "step-7-2");
  CHECK(*to.latest() == "step-7-2");
  CHECK(to.list()->size() == 2);
}

TEST_CASE("the newest checkpoints are kept, and one per span of steps") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  for (int64_t step = 0; step <= 100; step += 10) {
    REQUIRE(save(to, step));
    REQUIRE(to.retain({.newest = 2, .every_steps = 50}));
  }
  std::string names;
  auto checkpoints = *to.list();
  for (const auto& checkpoint : checkpoints)
    names += concat(checkpoint.step, ' ');
  CHECK(names == "0 50 90 100 ");
  REQUIRE(to.retain({.newest = 0}));
  CHECK(to.list()->size() == 4);
  REQUIRE(to.retain({.newest = 1}));
  CHECK(to.list()->size() == 1);
}

TEST_CASE("one checkpoint per span of hours is kept") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  for (int64_t step = 0; step < 12; ++step) {
    checkpoint_manifest manifest;
    manifest.step = step;
    manifest.description[std::string{time_key}] =
        concat(int64_t{1'000'000} * 3600 + step * 1800); // half an hour each
    if (step == 5)
      manifest.description.clear(); // as in a version without this field
    REQUIRE(to.save(std::move(manifest), items_of(step)));
    REQUIRE(to.retain({.newest = 2, .every_hours = 2}));
  }
  std::string names;
  auto checkpoints = *to.list();
  for (const auto& checkpoint : checkpoints)
    names += concat(checkpoint.step, ' ');
  CHECK(names == "0 4 8 10 11 ");
}

TEST_CASE("a crash at any write leaves the previous checkpoint or the new one, and no remains") {
  auto by_tasks = GENERATE(false, true);
  INFO("by tasks: " << by_tasks);
  auto save_as = [&](checkpoint_folder& to, file_system& files, int64_t step) {
    return by_tasks ? save_by_tasks(to, files, step) : save(to, step);
  };
  uint64_t changes = 0;
  {
    simulated_disk disk{1};
    checkpoint_folder to{disk, "model"};
    REQUIRE(save_as(to, disk, 1));
    auto changes_before = disk.changes();
    REQUIRE(save_as(to, disk, 2));
    REQUIRE(to.retain({.newest = 1}));
    changes = disk.changes() - changes_before;
  }
  CHECK(changes > 10);
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (uint64_t at = 1; at <= changes; ++at) {
      INFO("seed " << seed << ", change " << at);
      simulated_disk disk{seed};
      checkpoint_folder to{disk, "model"};
      REQUIRE(save_as(to, disk, 1));
      disk.crash_in(at);
      auto saved = save_as(to, disk, 2);
      if (saved)
        (void)to.retain({.newest = 1});
      disk.restart();
      auto step = loaded(disk, to);
      REQUIRE((step == 1 || step == 2));
      if (saved)
        REQUIRE(step == 2);
      // Training continues, and the remains of the crash are removed.
      REQUIRE(to.clean());
      REQUIRE(save_as(to, disk, 3));
      REQUIRE(to.retain({.newest = 1}));
      REQUIRE(loaded(disk, to) == 3);
      REQUIRE(disk.list("model")->size() == 2);
    }
}

TEST_CASE("a full disk and failing writes are errors that leave the previous checkpoint") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    simulated_disk disk{seed};
    checkpoint_folder to{disk, "model"};
    REQUIRE(save(to, 1));
    disk.faults.failing_writes = disk.faults.failing_syncs = 0.2;
    if (seed % 2 == 0)
      disk.faults.capacity = 1500 + seed * 10;
    int64_t last = 1;
    for (int64_t step = 2; step < 6; ++step)
      if (auto saved = save(to, step); saved)
        last = step;
      else
        CHECK(saved.status().message().find("model") != std::string::npos);
    disk.faults = {};
    auto loaded_step = loaded(disk, to);
    REQUIRE(loaded_step);
    CHECK(*loaded_step >= last); // a file whose folder could not be synced may exist
  }
}

TEST_CASE(
    "changed bytes of a checkpoint are detected, and the error names the file and the tensor") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  REQUIRE(save(to, 1));
  auto path = to.path_of("step-1") + "/tensors.safetensors";
  auto content = disk.content(path);
  content.back() ^= 1;
  disk.put(path, content);
  auto reader = checkpoint_reader::open(disk, to.path_of("step-1"));
  REQUIRE(reader);
  auto outcome = reader->verify();
  CHECK(outcome.kind() == error_kind::data_loss);
  CHECK(outcome.message().find("tensors.safetensors") != std::string::npos);
}

// A program that is killed repeatedly, and continues with the checkpoints that it finds. The disks
// of some seeds are too small, refuse to write and to sync, or sometimes cannot be read.
void crash_and_go_on(uint64_t seed, bool by_tasks) {
  INFO("seed " << seed << ", by tasks: " << by_tasks);
  simulated_disk disk{seed};
  std::mt19937_64 dice{seed};
  checkpoint_folder to{disk, "model"};
  int64_t certain = 0, step = 0;
  for (int crash = 0; crash < 5; ++crash) {
    disk_faults faults;
    if (seed % 4 == 1)
      faults.capacity = 1200 + dice() % 12'000;
    if (seed % 4 >= 2)
      faults.failing_writes = faults.failing_syncs = 0.05;
    if (seed % 4 == 3)
      faults.failing_reads = 0.05;
    disk.faults = faults;
    disk.crash_in(1 + dice() % (by_tasks ? 200 : 80));
    // A failed save is retried with the next step, as in training.
    for (int attempt = 0; attempt < 50 && !disk.crashed(); ++attempt) {
      if (!to.clean())
        continue;
      ++step;
      if (by_tasks ? save_by_tasks(to, disk, step) : save(to, step))
        certain = step;
      (void)to.retain({.newest = 2});
    }
    if (!disk.crashed())
      disk.crash();
    disk.restart();
    disk.faults = {};
    if (disk.list("model").ok()) {
      auto loaded_step = loaded(disk, to).value_or(0);
      REQUIRE(loaded_step >= certain);
      REQUIRE(loaded_step <= step);
    } else {
      REQUIRE(certain == 0);
    }
  }
}

TEST_CASE("a checkpoint is complete or invisible through thousands of crashes", "[slow]") {
  // The first seeds are always the same; TROUPE_SEEDS=N runs N seeds.
  const auto* text = std::getenv("TROUPE_SEEDS");
  auto seeds = text ? std::strtoull(text, nullptr, 10) : 20'000;
  for (uint64_t seed = 0; seed < seeds; ++seed)
    crash_and_go_on(seed, false);
  for (uint64_t seed = 0; seed < seeds / (text ? 1 : 5); ++seed)
    crash_and_go_on(seed, true);
}

TEST_CASE("a run that does not continue an earlier one keeps its own checkpoints") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  for (int64_t step : {600, 700, 1000, 10, 20, 30, 40}) {
    REQUIRE(save(to, step));
    REQUIRE(to.retain({.newest = 3}));
  }
  std::string names;
  auto checkpoints = *to.list();
  for (const auto& checkpoint : checkpoints)
    names += concat(checkpoint.step, ' ');
  CHECK(names == "20 30 40 ");
  for (int attempt = 0; attempt < 11; ++attempt)
    REQUIRE(save(to, 50));
  CHECK(*to.latest() == "step-50-11");
  disk.put("model/latest", "nonsense");
  CHECK(*to.latest() == "step-50-11");
}

TEST_CASE("the probe files of a process that died are removed") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  REQUIRE(save(to, 1));
  for (auto probe_file : {"0a1b.index", "0a1b.data-00000-of-00001", "0a1b-3.index.new"})
    disk.put(concat("model/", "writing-probe-", probe_file), "probe");
  REQUIRE(to.clean());
  CHECK(disk.list("model")->size() == 2);
}

TEST_CASE("a writer that has not yet noticed its replacement does not write to another's draft") {
  simulated_disk disk{1};
  checkpoint_folder replaced{disk, "model"}, next{disk, "model"};
  replaced.set_draft_suffix("-1");
  next.set_draft_suffix("-2");
  checkpoint_manifest manifest;
  manifest.step = 5;
  auto file = [](const std::string& draft) { return path_in(draft, "tensors"); };
  auto outer =
      replaced.save(manifest, [&](const std::string& slow, checkpoint_manifest&) -> status {
        auto inner =
            next.save(manifest, [&](const std::string& draft, checkpoint_manifest&) -> status {
              CHECK(draft != slow);
              disk.put(file(draft), "of the next");
              disk.put(file(slow), "of the replaced");
              return {};
            });
        REQUIRE(inner);
        CHECK(*read_whole(disk, file(next.path_of(*inner)), 100) == "of the next");
        return failure(error_kind::cancelled, "it has noticed");
      });
  CHECK(outer.status().kind() == error_kind::cancelled);
  CHECK(next.list()->size() == 1);
}

TEST_CASE("a checkpoint that cannot be removed does not prevent the removal of others") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  for (int64_t step = 1; step <= 6; ++step)
    REQUIRE(save(to, step));
  disk.put("model/step-2/notes/a.txt", "mine");
  auto removed = to.retain({.newest = 2});
  CHECK(removed.kind() == error_kind::failed_precondition);
  CHECK(removed.message().find("model/step-2") != std::string::npos);
  CHECK(to.list()->size() == 2);
}

TEST_CASE("foreign files in a folder of checkpoints are kept") {
  simulated_disk disk{1};
  checkpoint_folder to{disk, "model"};
  REQUIRE(save(to, 1));
  disk.put("model/probe-notes.txt", "mine");
  for (auto folder : {"model/step-1-notes", "model/notes"}) {
    REQUIRE(disk.make_folder(folder));
    disk.put(concat(folder, "/a.txt"), "mine");
  }
  REQUIRE(to.clean());
  REQUIRE(save(to, 2));
  REQUIRE(to.retain({.newest = 1}));
  CHECK(disk.content("model/step-1-notes/a.txt") == "mine");
  CHECK(disk.content("model/notes/a.txt") == "mine");
  CHECK(disk.content("model/probe-notes.txt") == "mine");
  CHECK(to.list()->size() == 1);
}

} // namespace troupe::test::checkpoint_folder_test

#include "troupe/serialization/storage/file_system.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/simulated_disk.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/records/files_for_readers.hpp"

#include <set>

namespace troupe::test::file_system_test {
namespace {

using Catch::Matchers::Contains;

std::string text_of(file_system& files, const std::string& path) {
  auto text = read_whole(files, path);
  return text ? *text : text.status().message();
}

void write(file_system& files, const std::string& path, std::string_view text, bool sync = true) {
  auto file = files.create(path);
  REQUIRE(file);
  REQUIRE((*file)->append(text).ok());
  if (sync)
    REQUIRE((*file)->sync().ok());
}

// Writes a file, and reads it from any position.
void check_reads(file_system& files, const std::string& folder, const std::string& a) {
  {
    auto file = files.create(a);
    REQUIRE(file);
    CHECK((*file)->append("hello ").ok());
    CHECK((*file)->append("world").ok());
    CHECK((*file)->size() == 11);
    CHECK((*file)->path() == a);
    CHECK((*file)->sync().ok());
  }
  CHECK(files.sync_folder(folder).ok());
  CHECK(text_of(files, a) == "hello world");
  auto file = files.open(a);
  REQUIRE(file);
  char part[5];
  auto bytes = std::as_writable_bytes(std::span{part});
  CHECK((*file)->read(6, bytes).ok());
  CHECK(std::string_view(part, 5) == "world");
  CHECK((*file)->read(11, {}).ok());
  auto behind = (*file)->read(7, bytes);
  CHECK(behind.kind() == error_kind::out_of_range);
  CHECK_THAT(behind.message(), Contains(a) && Contains("ends at byte 11"));
  CHECK((*file)->read(UINT64_MAX, bytes).kind() == error_kind::out_of_range);
}

void check_renamed_and_missing_files(file_system& files, const std::string& folder,
                                     const std::string& a, const std::string& b) {
  write(files, b, "old");
  CHECK(files.rename(a, b).ok());
  CHECK(text_of(files, b) == "hello world");
  CHECK(files.open(a).status().kind() == error_kind::not_found);
  CHECK_THAT(files.open(a).status().message(), Contains(a));
  CHECK(files.rename(a, b).kind() == error_kind::not_found);
  CHECK(files.remove(a).kind() == error_kind::not_found);
  CHECK(files.create(path_in(folder, "no/file")).status().kind() == error_kind::not_found);
  CHECK(files.list(a).status().kind() == error_kind::not_found);
}

// Folders are made with their parents, and removed when they are empty.
void check_folders(file_system& files, const std::string& file, const std::string& deep) {
  CHECK(files.make_folder(deep).ok());
  CHECK(files.make_folder(deep).ok());
  CHECK_FALSE(files.make_folder(file).ok());
  CHECK(files.open(deep).status().kind() == error_kind::invalid_argument);
  CHECK_FALSE(files.create(deep).ok());
  write(files, path_in(deep, "c"), "1");
  CHECK(files.remove(deep).kind() == error_kind::failed_precondition);
  CHECK(files.remove(path_in(deep, "c")).ok());
  CHECK(files.remove(deep).ok());
}

// The requirements on every file system.
void check_disk(file_system& files, const std::string& folder) {
  auto a = path_in(folder, "a"), b = path_in(folder, "b"), deep = path_in(folder, "x/y/z");
  check_reads(files, folder, a);
  check_renamed_and_missing_files(files, folder, a, b);
  check_folders(files, b, deep);
  auto entries = files.list(folder);
  REQUIRE(entries);
  REQUIRE(entries->size() == 2);
  CHECK((*entries)[0].name == "b");
  CHECK((*entries)[0].bytes == 11);
  CHECK((*entries)[1].name == "x");
  CHECK((*entries)[1].is_folder);
  CHECK(files.inspect(b)->bytes == 11);
  CHECK(files.inspect(path_in(folder, "x"))->is_folder);
  CHECK(files.inspect(a).status().kind() == error_kind::not_found);
  CHECK(*files.free_space(folder) > 0);
  write(files, b, "shorter");
  CHECK(text_of(files, b) == "shorter");
  CHECK(replace_file(files, b, "new").ok());
  CHECK(text_of(files, b) == "new");
  CHECK(files.list(folder)->size() == 2);
  CHECK(read_whole(files, b, 2).status().kind() == error_kind::resource_exhausted);
}

TEST_CASE("files are written, read, renamed and removed, on real and simulated disks") {
  temporary_folder folder;
  check_disk(real_files(), folder.path());
  simulated_disk disk{1};
  REQUIRE(disk.make_folder("/data").ok());
  check_disk(disk, "/data");
}

TEST_CASE("paths are split and joined") {
  CHECK(folder_of("a/b") == "a");
  CHECK(folder_of("b") == ".");
  CHECK(folder_of("/b") == "/");
  CHECK(name_of_file("a/b") == "b");
  CHECK(name_of_file("b") == "b");
  CHECK(path_in("a", "b") == "a/b");
  CHECK(path_in("/", "b") == "/b");
  CHECK(path_in("", "b") == "b");
}

TEST_CASE("a file that becomes shorter while it is open is reported") {
  temporary_folder folder;
  write(real_files(), folder / "a", "hello");
  auto file = real_files().open(folder / "a");
  std::filesystem::resize_file(folder / "a", 2);
  char part[5];
  CHECK((*file)->read(0, std::as_writable_bytes(std::span{part})).kind() ==
        error_kind::out_of_range);
}

TEST_CASE("anything but a regular file is refused at once") {
  CHECK(real_files().open("/dev/null").status().kind() == error_kind::invalid_argument);
}

TEST_CASE("a full disk of the system is reported as such") {
  auto file = real_files().create("/dev/full");
  if (!file)
    return;
  auto full = (*file)->append("text");
  CHECK(full.kind() == error_kind::resource_exhausted);
  CHECK_THAT(full.message(), Contains("/dev/full") && Contains("the disk is full"));
}

TEST_CASE("a crash of the simulated disk keeps synced data") {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    simulated_disk disk{seed};
    write(disk, "a", "content");
    REQUIRE(disk.sync_folder(".").ok());
    auto open = disk.open("a");
    disk.crash();
    CHECK(disk.open("a").status().kind() == error_kind::unavailable);
    disk.restart();
    char part[1];
    CHECK_FALSE((*open)->read(0, std::as_writable_bytes(std::span{part})).ok());
    CHECK(text_of(disk, "a") == "content");
  }
}

TEST_CASE("a crash of the simulated disk loses, tears and keeps unsynced writes") {
  std::set<std::string> contents;
  auto outcome = [&](const auto& change) {
    contents.clear();
    for (uint64_t seed = 0; seed < 300; ++seed) {
      simulated_disk disk{seed};
      write(disk, "a", "old");
      REQUIRE(disk.sync_folder(".").ok());
      change(disk);
      disk.crash();
      disk.restart();
      contents.insert(disk.open("a") ? disk.content("a") : "(none)");
      if (disk.open("b"))
        contents.insert("b: " + disk.content("b"));
    }
  };
  outcome([](simulated_disk& disk) { CHECK(disk.remove("a").ok()); });
  CHECK(contents == std::set<std::string>{"old", "(none)"});
  outcome([](simulated_disk& disk) { CHECK(disk.rename("a", "b").ok()); });
  CHECK(contents == std::set<std::string>{"old", "(none)", "b: old"});
  outcome([](simulated_disk& disk) { write(disk, "a", "new"); });
  CHECK(contents == std::set<std::string>{"new"}); // the name was synced before
  outcome([](simulated_disk& disk) { write(disk, "a", "new", false); });
  CHECK(contents.contains("old"));
  CHECK(contents.contains("new"));
  CHECK(contents.contains("ne"));
  CHECK(contents.contains(""));
  CHECK(contents.contains(std::string(3, '\0')));
  outcome([](simulated_disk& disk) { write(disk, "b", "new"); });
  CHECK(contents ==
        std::set<std::string>{"old", "b: new"}); // its name may be lost, but not its content
}

TEST_CASE("replacing a file leaves the old or the new content after any crash") {
  std::set<std::string> contents;
  for (uint64_t seed = 0; seed < 50; ++seed)
    for (uint64_t at = 1; at <= 6; ++at) {
      simulated_disk disk{seed};
      REQUIRE(replace_file(disk, "a", "old").ok());
      disk.crash_in(at);
      auto replaced = replace_file(disk, "a", "new");
      CHECK(replaced.ok() == (at > 5));
      if (at > 5)
        disk.crash();
      CHECK(disk.crashed());
      disk.restart();
      auto remaining = disk.content("a");
      contents.insert(remaining);
      CHECK((remaining == "new" || (remaining == "old" && !replaced.ok())));
    }
  CHECK(contents.size() == 2);
}

TEST_CASE("the simulated disk fills up, fails and flips bits as its seed determines") {
  simulated_disk disk{7, {.capacity = 10}};
  auto file = disk.create("a");
  CHECK((*file)->append("12345678").ok());
  CHECK(*disk.free_space(".") == 2);
  auto full = (*file)->append("9abcdef");
  CHECK(full.kind() == error_kind::resource_exhausted);
  CHECK(disk.content("a") == "123456789a");
  disk.faults = {.failing_reads = 1};
  CHECK(read_whole(disk, "a").status().kind() == error_kind::unavailable);
  disk.faults = {.flipped_bits = 1};
  CHECK(text_of(disk, "a") != "123456789a");
  CHECK(disk.content("a") == "123456789a");
  disk.faults = {.failing_writes = 1};
  CHECK((*file)->append("b").kind() == error_kind::unavailable);
}

TEST_CASE("data lost by a failed sync does not return with the next sync") {
  simulated_disk disk{3};
  REQUIRE(disk.sync_folder(".").ok());
  auto file = disk.create("a");
  CHECK(disk.sync_folder(".").ok());
  CHECK((*file)->append("text").ok());
  disk.faults.failing_syncs = 1;
  CHECK_FALSE((*file)->sync().ok());
  disk.faults.failing_syncs = 0;
  CHECK((*file)->sync().ok());
  std::set<std::string> contents;
  for (uint64_t i = 0; i < 1; ++i) {
    disk.crash();
    disk.restart();
    contents.insert(disk.content("a"));
  }
  CHECK(disk.open("a"));
}

TEST_CASE("a durably made folder and its parents exist after a crash") {
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (uint64_t at = 1; at <= 8; ++at) {
      INFO("seed " << seed << ", change " << at);
      simulated_disk disk{seed};
      disk.crash_in(at); // within the first attempt, or the second
      auto outcome = make_folder_durably(disk, "a/b/c");
      if (disk.crashed()) {
        CHECK_FALSE(outcome.ok());
        disk.restart();
        REQUIRE(make_folder_durably(disk, "a/b/c").ok());
      } else {
        REQUIRE(outcome.ok());
      }
      disk.crash();
      disk.restart();
      CHECK(disk.inspect("a/b/c").ok());
    }
}

TEST_CASE("a file that cannot be replaced keeps its content, and leaves no temporary file") {
  simulated_disk disk{5};
  REQUIRE(replace_file(disk, "a", "old").ok());
  for (auto faults : {disk_faults{.failing_writes = 1}, disk_faults{.failing_syncs = 1}}) {
    disk.faults = faults;
    CHECK(replace_file(disk, "a", "new").kind() == error_kind::unavailable);
    disk.faults = {};
    CHECK(disk.content("a") == "old");
    CHECK(disk.list(".")->size() == 1);
  }
}

TEST_CASE("a file written to new folders exists after a crash, with the folders") {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    simulated_disk disk{seed};
    REQUIRE(files_for_readers(disk)->write("a/b/c", "x").ok());
    disk.crash();
    disk.restart();
    CHECK(disk.content("a/b/c") == "x");
  }
}

} // namespace
} // namespace troupe::test::file_system_test

#include "tests/support/catch.hpp"
#include "tests/support/reader_world.hpp"
#include "troupe/serialization/records/tfrecord.hpp"

#include <random>
#include <set>

namespace troupe::test::file_reader_test {

using Catch::Matchers::Contains;

namespace {

const record_layout lines{.format = record_format::line};
const record_layout tfrecords{.format = record_format::tfrecord};

void write_records(file_system& disk, const std::string& path, int count,
                   compression kind = compression::none) {
  auto out = tfrecord_writer::create(disk, path, kind);
  REQUIRE(out);
  for (int i = 0; i < count; ++i)
    REQUIRE(out->add(concat(path, " record ", i)));
  REQUIRE(out->finish());
}

} // namespace

TEST_CASE("a reader returns the records of one file after another, until the queue ends") {
  reader_world world{lines};
  world.disk.put("a", "1\n2\n");
  world.disk.put("empty", "");
  world.disk.put("b", "3");
  for (const auto* name : {"a", "empty", "b"})
    world.offer(name);
  world.end_of_data();
  CHECK(world.read() == "a:1=1");
  CHECK(world.read() == "a:2=2");
  CHECK(world.reader.work_units_completed() == 0); // only a further read finds the end
  CHECK(world.read() == "b:1=3");
  CHECK(world.reader.work_units_completed() == 2);
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(world.read(), Contains("queue 'files' is closed"));
  CHECK(world.reader.records_produced() == 3);
  CHECK(world.reader.work_units_completed() == 3);
}

TEST_CASE("reads wait for the name of a file, and are served in order") {
  reader_world world{{.format = record_format::whole}};
  world.disk.put("a", "A");
  world.disk.put("b", "B");
  world.begin(1);
  world.begin(2);
  CHECK(world.text_of(1) == "waits");
  CHECK_THAT(world.reader.describe(), Contains("waits for the name of a file, 2 reads wait"));
  world.offer("a");
  CHECK(world.text_of(1) == "a=A");
  CHECK(world.text_of(2) == "waits");
  CHECK(world.reader.work_units_completed() == 1);
  world.offer("b");
  CHECK(world.text_of(2) == "b=B");
}

TEST_CASE("a name that arrives after its read was cancelled serves the next read") {
  reader_world world{lines};
  world.disk.put("a", "1\n2");
  world.begin(1);
  world.begin(2);
  world.reader.cancel(reader_world::step(1), failure(error_kind::cancelled, "late"), world.done);
  CHECK(world.text_of(1) == "late");
  world.offer("a");
  CHECK(world.text_of(2) == "a:1=1");
  world.begin(3);
  CHECK(world.text_of(3) == "a:2=2");
}

TEST_CASE("the next read asks for a file if the step of the previous read fails") {
  reader_world world{lines};
  world.disk.put("a", "1");
  world.begin(1);
  world.begin(2);
  world.fail(1);
  CHECK(world.text_of(1) == "the step has failed");
  CHECK(world.text_of(2) == "waits");
  world.offer("a");
  CHECK(world.text_of(2) == "a:1=1");
}

TEST_CASE("the records of a failed step return to their place") {
  reader_world world{lines};
  world.disk.put("a", "1\n2\n3\n4\n5");
  world.offer("a");
  CHECK(world.read() == "a:1=1");
  CHECK(world.read({.count = 2, .as_batch = true}) == "a:2=2 a:3=3");
  CHECK(world.read({.return_on_failure = false}) == "a:4=4");
  auto last = world.last_read();
  world.fail(last);
  world.fail(last - 1);
  CHECK(world.reader.records_produced() == 2);
  CHECK(world.read() == "a:2=2");
  CHECK(world.read() == "a:3=3");
  CHECK(world.read() == "a:5=5");
  world.fail(last - 2);
  CHECK(world.read() == "a:1=1");
}

TEST_CASE("read_up_to stops at the end of a file") {
  reader_world world{lines};
  world.disk.put("a", "1\n2\n3");
  world.disk.put("b", "4");
  world.offer("a");
  world.offer("b");
  file_reader::read_options two{.count = 2, .as_batch = true};
  CHECK(world.read(two) == "a:1=1 a:2=2");
  CHECK(world.read(two) == "a:3=3");
  CHECK(world.reader.work_units_completed() == 1);
  CHECK(world.read({.count = 0}) == "reader 'r': the number of records must be at least 1, got 0");
  CHECK(world.read(two) == "b:1=4");
}

TEST_CASE("a missing file fails each read until it exists") {
  reader_world world{tfrecords};
  world.offer("gone");
  CHECK_THAT(world.read(), Contains("gone"));
  CHECK(world.done.back().outcome.kind() == error_kind::not_found);
  CHECK_THAT(world.read(), Contains("gone"));
  auto file_requests = world.file_operations;
  CHECK(file_requests == 2); // there is no automatic retry
  write_records(world.disk, "gone", 1);
  CHECK(world.read() == "gone:0=gone record 0");
}

TEST_CASE("records before a truncation are read, and the others once the file is complete") {
  reader_world world{tfrecords};
  write_records(world.disk, "a", 3);
  auto content = world.disk.content("a");
  world.disk.put("a", content.substr(0, content.size() - 1));
  world.offer("a");
  CHECK(world.read() == "a:0=a record 0");
  CHECK(world.read() == "a:26=a record 1");
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(world.read(), Contains("a: record 2 at byte 52: the file ends within its bytes"));
  CHECK(world.done.back().outcome.kind() == error_kind::data_loss); // it is not the end of the data
  auto state = world.reader.state();
  REQUIRE(state);
  world.disk.put("a", content);
  REQUIRE(world.reader.restore(*state, world.done)); // opens the file again
  CHECK(world.read() == "a:52=a record 2");
}

TEST_CASE("a damaged record is one error, and the following records are read") {
  reader_world world{tfrecords};
  write_records(world.disk, "a", 3);
  auto bytes = world.disk.content("a");
  bytes[30 + 12] ^= 1;
  world.disk.put("a", bytes);
  world.offer("a");
  CHECK(world.read() == "a:0=a record 0");
  CHECK_THAT(world.read(), Contains("a: record 1 at byte 26: the checksum of its 10 bytes"));
  CHECK(world.done.back().outcome.kind() == error_kind::data_loss);
  CHECK(world.read() == "a:52=a record 2");
}

TEST_CASE("a restored reader continues at the saved position, in files of all kinds") {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += concat("line ", i, '\n');
  for (auto layout : {lines,
                      {.format = record_format::line, .compression = "GZIP", .skip_lines = 3},
                      {.format = record_format::fixed, .head_bytes = 5, .record_bytes = 7},
                      {.format = record_format::fixed,
                      .compression = "ZLIB",
                      .tail_bytes = 9,
                      .record_bytes = 5,
                      .hop_bytes = 3},
                      {.format = record_format::fixed, .record_bytes = 3, .hop_bytes = 10},
                      tfrecords,
                      {.format = record_format::tfrecord, .compression = "ZLIB"},
                      {.format = record_format::whole},
                      {.format = record_format::none}}) {
    auto kind = layout.compression == "GZIP"   ? compression::gzip
                : layout.compression == "ZLIB" ? compression::zlib
                                               : compression::none;
    auto fill = [&](reader_world& world) {
      if (layout.format == record_format::tfrecord) {
        write_records(world.disk, "a", 150, kind);
      } else {
        auto out = output_stream::create(world.disk, "a", kind);
        REQUIRE(out);
        auto fitting = layout.format == record_format::fixed ? text.substr(0, 5 + 7 * 150) : text;
        REQUIRE(out->write(fitting));
        REQUIRE(out->finish());
      }
    };
    INFO(static_cast<int>(layout.format) << ' ' << layout.compression);
    reader_world saved{layout};
    fill(saved);
    saved.offer("a");
    saved.end_of_data();
    for (int read = 0; read < 300; ++read) {
      auto state = saved.reader.state();
      REQUIRE(state);
      if (read % 40 == 3 || read == 1) {
        reader_world restored{layout};
        fill(restored);
        restored.end_of_data();
        REQUIRE(restored.reader.restore(*state, restored.done));
        CHECK(restored.reader.records_produced() == saved.reader.records_produced());
        auto resaved = restored.reader.state();
        REQUIRE(resaved);
        CHECK(*resaved == *state);
        auto expected = saved.read();
        CHECK(restored.read() == expected);
      } else {
        saved.read();
      }
    }
  }
}

TEST_CASE("a reader's state includes a file whose name arrived after its read was cancelled") {
  reader_world saved{lines}, restored{lines};
  for (auto* world : {&saved, &restored}) {
    world->disk.put("a", "1\n2");
    world->disk.put("b", "3");
  }
  saved.begin(1);
  saved.reader.cancel(reader_world::step(1), failure(error_kind::cancelled, "late"), saved.done);
  saved.offer("a"); // the request of the cancelled read has consumed it
  auto state = saved.reader.state();
  REQUIRE(state);
  restored.offer("b");
  restored.end_of_data();
  REQUIRE(restored.reader.restore(*state, restored.done));
  CHECK(*restored.reader.state() == *state);
  CHECK(restored.read() == "a:1=1");
  CHECK(restored.read() == "a:2=2");
  CHECK(restored.read() == "b:1=3");
  CHECK_THAT(restored.read(), Contains("is closed"));
}

TEST_CASE("an invalid state of a reader is refused, and changes nothing") {
  reader_world world{lines};
  world.disk.put("a", "1\n2\n3");
  world.offer("a");
  CHECK(world.read() == "a:1=1");
  for (const auto& bytes : std::vector<std::string>{
           "\x08", "\x08\x01\x10\x02", "\x22\x05xy", "\x09\x01",
           "\x7a\x03"
           "0 0",
           "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\xff\xff",
           // A record of a file that was not started, and a truncated record.
           std::string{"\x8a\x01\x03\x01\x00\x00", 6}, std::string{"\x8a\x01\x02\x00\x01", 5},
           // Numbers that are out of range.
           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f"})
    CHECK(world.reader.restore(bytes, world.done).kind() == error_kind::invalid_argument);
  CHECK(world.read() == "a:2=2");
  // A position that the file does not have; the next read reports it.
  REQUIRE(world.reader.restore("\x08\x01\x22\x01"
                               "a\x7a\x05"
                               "99 10",
                               world.done));
  CHECK_THAT(world.read(), Contains("a: ends before byte 99"));
}

TEST_CASE("a reset reader forgets its file, and its reads keep waiting") {
  reader_world world{lines};
  world.disk.put("a", "1\n2\n3");
  world.disk.put("b", "4");
  world.offer("a");
  CHECK(world.read() == "a:1=1");
  world.reader.rewind(world.done);
  CHECK(world.reader.records_produced() == 0);
  world.begin(77);
  world.reader.rewind(world.done);
  world.offer("b");
  CHECK(world.text_of(77) == "b:1=4");
}

TEST_CASE("a reader's state includes the records returned by failed steps") {
  reader_world saved{lines}, restored{lines};
  for (auto* world : {&saved, &restored}) {
    world->disk.put("a", "1");
    world->disk.put("b", "2\n3\n4\n5");
  }
  saved.offer("a");
  saved.offer("b");
  std::vector<uint64_t> reads;
  for (const auto* text : {"a:1=1", "b:1=2", "b:2=3", "b:3=4"}) {
    CHECK(saved.read() == text);
    reads.push_back(saved.last_read());
  }
  // One record of an earlier file, and one that is followed by a consumed record.
  saved.fail(reads[0]);
  saved.fail(reads[2]);
  auto state = saved.reader.state();
  REQUIRE(state);
  REQUIRE(restored.reader.restore(*state, restored.done));
  CHECK(*restored.reader.state() == *state);
  restored.end_of_data();
  CHECK(restored.reader.records_produced() == 2);
  for (const auto* text : {"a:1=1", "b:2=3", "b:4=5"})
    CHECK(restored.read() == text);
  CHECK_THAT(restored.read(), Contains("is closed"));
  // They are returned separately where all must be from one file.
  REQUIRE(saved.reader.restore(*state, saved.done));
  CHECK(saved.read({.count = 5, .as_batch = true}) == "a:1=1");
  CHECK(saved.read({.count = 5, .as_batch = true}) == "b:2=3 b:4=5");
}

TEST_CASE("a reader reads ahead within limits, and many records per file operation") {
  reader_world world{lines};
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += "x\n";
  world.disk.put("a", text);
  world.offer("a");
  world.read();
  CHECK(world.file_operations == 1);
  for (int i = 1; i < 9'000; ++i)
    world.read();
  CHECK(world.file_operations < 200);
  CHECK_THAT(world.reader.describe(), Contains("records read ahead"));
}

namespace {

// Random files and reads of steps that succeed or fail.
class random_reads {
public:
  explicit random_reads(uint64_t seed) : dice_(seed) {}

  void act() {
    if (draw(4) == 0)
      offer_file();
    else
      begin_step();
    if (!running_.empty() && draw(2))
      end_any_step();
  }

  // Ends the steps that still run, and reads all remaining records.
  void read_to_end() {
    world_.end_of_data();
    for (auto [step_number, waits] : running_)
      end(step_number, false);
    for (;; ++next_) {
      world_.begin(next_);
      auto got = world_.answer_of(next_);
      REQUIRE(got);
      if (!got->outcome)
        break;
      end(next_, false);
    }
  }

  std::multiset<std::string> expected, found;

private:
  uint64_t draw(uint64_t below) { return dice_() % below; }

  void offer_file() {
    auto name = concat("f", files_++);
    std::string text;
    for (auto n = draw(100); n > 0; --n) {
      auto line = concat(name, '-', n);
      expected.insert(line);
      text += line + '\n';
    }
    world_.disk.put(name, text);
    world_.offer(name);
  }

  void begin_step() {
    auto options = draw(2) ? file_reader::read_options{}
                           : file_reader::read_options{.count = static_cast<int64_t>(1 + draw(30)),
                                                       .as_batch = true};
    world_.begin(next_, options);
    running_[next_++] = true;
  }

  void end_any_step() {
    auto chosen = running_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(draw(running_.size())));
    auto fails = draw(3) == 0;
    if (fails || world_.answer_of(chosen->first)) {
      end(chosen->first, fails);
      running_.erase(chosen);
    }
  }

  void end(uint64_t step_number, bool fails) {
    auto got = world_.answer_of(step_number);
    if (fails) {
      world_.fail(step_number);
    } else if (got) {
      if (got->outcome)
        for (const auto& record : got->tensors[1].values<std::string>())
          found.insert(record);
      world_.reader.end_step(reader_world::step(step_number).step, false, world_.done);
    }
  }

  std::mt19937_64 dice_;
  reader_world world_{lines};
  int files_ = 0;
  std::map<uint64_t, bool> running_; // steps that read, and whether their end is known
  uint64_t next_ = 1;
};

} // namespace

TEST_CASE("each record reaches exactly one successful step, and none is lost") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    random_reads reads{seed};
    for (int i = 0; i < 400; ++i)
      reads.act();
    reads.read_to_end();
    CHECK(reads.found == reads.expected);
  }
}

} // namespace troupe::test::file_reader_test

#include "tests/support/catch.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/records/files_for_readers.hpp"
#include "troupe/serialization/records/fixed_records.hpp"
#include "troupe/serialization/records/text_records.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/serialization/storage/file.hpp"

#include <algorithm>
#include <functional>
#include <thread>

namespace troupe::test::records_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;
using records = std::vector<std::string>;
using opened = result<std::unique_ptr<record_reader>>;

// All records, then the error that ended them, if there was one.
records read_all(const opened& reader) {
  records records_read;
  if (!reader)
    return {reader.status().message()};
  for (std::string record;;) {
    auto has_record = (*reader)->next(record);
    if (has_record && !*has_record)
      return records_read;
    records_read.push_back(has_record ? record : has_record.status().message());
    if (!has_record)
      return records_read;
  }
}

records lines_of(const std::string& text, const text_options& options = {}) {
  simulated_disk disk{1};
  disk.put("a.txt", text);
  return read_all(open_lines(disk, "a.txt", options));
}

records csv_of(const std::string& text, const text_options& options = {}) {
  simulated_disk disk{1};
  disk.put("a.csv", text);
  return read_all(open_csv(disk, "a.csv", options));
}

std::string tfrecord_of(const records& all, compression kind = compression::none) {
  simulated_disk disk{1};
  auto writer = tfrecord_writer::create(disk, "x", kind);
  REQUIRE(writer);
  for (const auto& record : all)
    REQUIRE(writer->add(record).ok());
  REQUIRE(writer->finish().ok());
  return disk.content("x");
}

records some() { return {"first", "", "\0\xff"s, std::string(700'000, 'x'), "last"}; }

// Reading can continue from each position that a reader reports, forwards and backwards.
void check_positions(const std::function<opened()>& open) {
  auto reader = open();
  REQUIRE(reader);
  std::vector<std::string> positions{(*reader)->position()};
  records records_read;
  for (std::string record; *(*reader)->next(record); positions.push_back((*reader)->position()))
    records_read.push_back(record);
  for (auto at = positions.size(); at-- > 0;) {
    auto second_reader = open();
    for (auto* reader_ : {&*reader, &*second_reader}) {
      REQUIRE((*reader_)->seek(positions[at]).ok());
      CHECK((*reader_)->position() == positions[at]);
      std::string record;
      auto has_record = (*reader_)->next(record);
      REQUIRE(has_record);
      CHECK(*has_record == (at < records_read.size()));
      if (*has_record)
        CHECK(record == records_read[at]);
    }
  }
  for (auto invalid_position :
       {"", "1", "x 1", "1 ", "1 x", "1 1 1", "-1 0", " 1 1", "1 2", "99999999999999999999 1"})
    CHECK((*reader)->seek(invalid_position).kind() == error_kind::invalid_argument);
  CHECK((*reader)->seek("999999999 1").kind() == error_kind::out_of_range);
}

TEST_CASE("records of TFRecord files survive, compressed or not") {
  for (auto kind : {compression::none, compression::gzip, compression::zlib}) {
    simulated_disk disk{1};
    disk.put("x", tfrecord_of(some(), kind));
    auto open = [&] { return open_tfrecord(disk, "x", {.kind = kind}); };
    CHECK(read_all(open()) == some());
    check_positions(open);
    disk.put("x", tfrecord_of({}, kind));
    CHECK(read_all(open()).empty());
  }
}

TEST_CASE("TFRecord files that TensorFlow has written are read") {
  auto folder = data_folder("serialization/goldens");
  const records expected{"hello", "", "\0\xff"s, std::string(1000, 'a')};
  for (auto [name, kind] : {std::pair{"records.tfrecord", compression::none},
                            {"records.tfrecord.gz", compression::gzip},
                            {"records.tfrecord.zlib", compression::zlib}}) {
    auto path = (folder / name).string();
    CHECK(read_all(open_tfrecord(real_files(), path, {.kind = kind})) == expected);
  }
  auto plain = read_file((folder / "records.tfrecord").string());
  CHECK(*plain == tfrecord_of(expected));
}

TEST_CASE("errors of TFRecord files name the record, the byte and the reason") {
  simulated_disk disk{1};
  auto content = tfrecord_of({"first", "second", "third"});
  auto second = size_t{16 + 5};
  auto message_of = [&](const std::string& damaged, const tfrecord_options& options = {}) {
    disk.put("data.tfrecord", damaged);
    return read_all(open_tfrecord(disk, "data.tfrecord", options)).back();
  };
  auto flipped = [&](size_t at) {
    auto damaged = content;
    damaged[at] ^= 1;
    return damaged;
  };
  CHECK_THAT(message_of(flipped(second)),
             Contains("data.tfrecord: record 1 at byte 21: the checksum of its length is wrong"));
  CHECK_THAT(message_of(flipped(second + 12)),
             Contains("record 1 at byte 21: the checksum of its 6"));
  CHECK_THAT(message_of(content.substr(0, second + 5)),
             Contains("its head, of which it has 5 of 12"));
  CHECK_THAT(message_of(content.substr(0, second + 15)),
             Contains("its bytes, of which it has 3 of 10"));
  CHECK_THAT(message_of(content, {.max_record_bytes = 5}),
             Contains("record 1 at byte 21: it has 6 bytes"));
  CHECK_THAT(message_of("no records at all"),
             Contains("record 0 at byte 0") && Contains("not a record"));

  // Damage is distinct from truncation; and records after damaged bytes can be read.
  std::string record;
  disk.put("x", content.substr(0, second + 15));
  auto reader = open_tfrecord(disk, "x");
  CHECK(*(*reader)->next(record));
  for (int i = 0; i < 2; ++i)
    CHECK((*reader)->next(record).status().kind() == error_kind::out_of_range);
  CHECK((*reader)->position() == "21 1");
  disk.put("x", flipped(second + 12));
  reader = open_tfrecord(disk, "x");
  CHECK(*(*reader)->next(record));
  CHECK((*reader)->next(record).status().kind() == error_kind::data_loss);
  CHECK(*(*reader)->next(record));
  CHECK(record == "third");
  disk.put("x", flipped(second));
  reader = open_tfrecord(disk, "x");
  CHECK(*(*reader)->next(record));
  for (int i = 0; i < 2; ++i)
    CHECK((*reader)->next(record).status().kind() == error_kind::data_loss);
}

TEST_CASE("a damaged TFRecord file gives an error, or the records before the damage") {
  const records expected_records{"first", "", "second"};
  for (auto kind : {compression::none, compression::gzip, compression::zlib}) {
    auto content = tfrecord_of(expected_records, kind);
    auto read = [&](const std::string& damaged) {
      simulated_disk disk{1};
      disk.put("x", damaged);
      auto got = read_all(open_tfrecord(disk, "x", {.kind = kind}));
      auto good =
          static_cast<size_t>(std::ranges::mismatch(got, expected_records).in1 - got.begin());
      auto refused = good + 1 == got.size() && got.back().starts_with("x: ");
      return std::pair{good, refused};
    };
    for (size_t at = 0; at < content.size(); ++at)
      for (int change : {1, 0x80, 0xff}) {
        auto damaged = content;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        auto [good, refused] = read(damaged);
        if (kind == compression::none)
          CHECK(refused);
        else // some bytes of gzip's header have no effect
          CHECK((refused || good == expected_records.size()));
      }
    for (size_t size = 0; size < content.size(); ++size) {
      auto [good, refused] = read(content.substr(0, size));
      auto at_end = kind == compression::none && (size == 0 || size == 21 || size == 37);
      CHECK(refused != at_end);
    }
  }
}

TEST_CASE("compressed files can follow each other, and nothing else can follow them") {
  simulated_disk disk{1};
  auto first_file = tfrecord_of({"a"}, compression::gzip),
       second_file = tfrecord_of({"b"}, compression::gzip);
  disk.put("x", first_file + second_file);
  CHECK(read_all(open_tfrecord(disk, "x", {.kind = compression::gzip})) == records{"a", "b"});
  disk.put("x", first_file + "junk");
  CHECK_THAT(read_all(open_tfrecord(disk, "x", {.kind = compression::gzip})).back(),
             Contains("x: "));
  disk.put("x", tfrecord_of({"a"}, compression::zlib) + "junk");
  CHECK_THAT(read_all(open_tfrecord(disk, "x", {.kind = compression::zlib})).back(),
             Contains("4 bytes follow the compressed data"));
  CHECK(compression_from("gzip") == compression::gzip);
  CHECK(compression_from("zlib") == compression::zlib);
  CHECK(compression_from("none") == compression::none);
  CHECK(compression_from("automatic") == compression::automatic);
  CHECK_FALSE(compression_from("bz2"));
  CHECK_FALSE(output_stream::create(disk, "y", compression::automatic));
}

TEST_CASE("flushed records can be read while the file is written") {
  for (auto kind : {compression::none, compression::gzip}) {
    simulated_disk disk{1};
    auto writer = tfrecord_writer::create(disk, "x", kind);
    CHECK(writer->add("first").ok());
    CHECK(writer->flush().ok());
    auto reader = open_tfrecord(disk, "x", {.kind = kind});
    std::string record;
    CHECK(*(*reader)->next(record));
    CHECK(record == "first");
    CHECK(writer->offset() == 21);
    CHECK(writer->sync().ok());
    CHECK(writer->add("second").ok());
    CHECK(writer->finish().ok());
    CHECK(read_all(open_tfrecord(disk, "x", {.kind = kind})) == records{"first", "second"});
    CHECK_FALSE(writer->add("third").ok());
  }
}

TEST_CASE("lines end with LF or CRLF, and the last line needs no end") {
  CHECK(lines_of("a\nb\r\n\n\rc\r\nd") == records{"a", "b", "", "\rc", "d"});
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n") == records{""});
  CHECK(lines_of("a\r") == records{"a\r"});
  CHECK(lines_of("a\n", {.skip = 2}).empty());
  CHECK(lines_of("head\na\nb", {.skip = 1}) == records{"a", "b"});
  auto long_line = std::string(600'000, 'x');
  CHECK(lines_of(long_line + "\r\n" + long_line) == records{long_line, long_line});
  CHECK(lines_of("abc\nabcd\n", {.max_record_bytes = 3}) ==
        records{"abc", "a.txt: record 1 at byte 4: it has more than 3 bytes, the limit"});
  CHECK(lines_of(long_line, {.max_record_bytes = 599'999}).back().starts_with("a.txt: record 0"));
  simulated_disk disk{1};
  disk.put("x", "heading\na\r\n\nlong line\nlast");
  check_positions([&] { return open_lines(disk, "x", {.skip = 1}); });
}

TEST_CASE("records of CSV files may have ends of lines within quotes") {
  CHECK(csv_of("a,b\n\"x\ny\",\"\"\"\r\n\"\r\nlast") ==
        records{"a,b", "\"x\ny\",\"\"\"\r\n\"", "last"});
  CHECK(csv_of("1\n").size() == 1);
  CHECK(csv_of("").empty());
  CHECK_THAT(csv_of("a\n\"b\nc").back(),
             Contains("a.csv: record 1 at byte 2: the file ends within quotes"));
  CHECK_THAT(csv_of("\"").back(), Contains("quotes"));
  CHECK(csv_of("\"head\ning\"\n1", {.skip = 1}) == records{"1"});
  simulated_disk disk{1};
  disk.put("x", "a,\"\n\"\nb\n\"c\nd\"\n");
  check_positions([&] { return open_csv(disk, "x"); });
}

TEST_CASE("records of one length are read, and files of another size are refused") {
  simulated_disk disk{1};
  disk.put("x", "headaabbcctail");
  fixed_options options{.record_bytes = 2, .head_bytes = 4, .tail_bytes = 4};
  auto open = [&] { return open_fixed(disk, "x", options); };
  CHECK(read_all(open()) == records{"aa", "bb", "cc"});
  check_positions(open);
  options.record_bytes = 4;
  CHECK_THAT(open().status().message(),
             Contains("x: has 6 bytes of records, which is not a multiple"));
  CHECK(open_fixed(disk, "x", {.record_bytes = 0}).status().kind() == error_kind::invalid_argument);
  CHECK_FALSE(open_fixed(disk, "x", {.record_bytes = 1, .head_bytes = 15}));
  CHECK_FALSE(
      open_fixed(disk, "x", {.record_bytes = 1, .head_bytes = 1, .tail_bytes = UINT64_MAX}));
  auto out = output_stream::create(disk, "z", compression::zlib);
  CHECK(out->write("hhaabbc").ok());
  CHECK(out->finish().ok());
  CHECK_THAT(read_all(open_fixed(disk, "z", {2, 2, 0, compression::zlib})).back(),
             Contains("z: record 2 at byte 6: the file ends within it: it has 1 of 2"));
}

TEST_CASE("records of one length may overlap, have gaps, and end before a tail") {
  simulated_disk disk{1};
  for (auto kind : {compression::none, compression::gzip, compression::zlib}) {
    auto out = output_stream::create(disk, "x", kind);
    CHECK(out->write("hhABCDEFGttt").ok());
    CHECK(out->finish().ok());
    auto read = [&](fixed_options options) {
      options.kind = kind;
      auto open = [&] { return open_fixed(disk, "x", options); };
      check_positions(open);
      return read_all(open());
    };
    CHECK(read({.record_bytes = 3, .head_bytes = 2, .tail_bytes = 3, .hop_bytes = 2}) ==
          records{"ABC", "CDE", "EFG"});
    CHECK(read({.record_bytes = 3, .head_bytes = 2, .tail_bytes = 3, .hop_bytes = 1}) ==
          records{"ABC", "BCD", "CDE", "DEF", "EFG"});
    CHECK(read({.record_bytes = 2, .head_bytes = 2, .tail_bytes = 3, .hop_bytes = 3}) ==
          records{"AB", "DE"});
    CHECK(read({.record_bytes = 2, .head_bytes = 0, .tail_bytes = 0, .hop_bytes = 40}) ==
          records{"hh"});
    CHECK(read({.record_bytes = 7, .head_bytes = 2, .tail_bytes = 3}) == records{"ABCDEFG"});
    CHECK_THAT(read_all(open_fixed(disk, "x", {2, 2, 3, kind})).back(),
               Contains(kind == compression::none
                            ? "x: has 7 bytes of records, which is not a multiple of 2"
                            : "x: record 3 at byte 8: the file ends within it: it has 1 of 2"));
  }
}

std::string idx(char type, const std::vector<uint32_t>& dims, const std::string& data) {
  std::string file{0, 0, type, static_cast<char>(dims.size())};
  for (auto extent : dims)
    for (int shift : {24, 16, 8, 0})
      file += static_cast<char>(extent >> shift);
  return file + data;
}

TEST_CASE("IDX files are read as a whole and item by item") {
  simulated_disk disk{1};
  auto read_whole_file = [&](const std::string& content) {
    disk.put("x", content);
    auto read = read_idx(disk, "x");
    return read ? to_string(*read) : read.status().message();
  };
  CHECK(read_whole_file(idx(0x08, {2, 1, 2}, "\1\2\3\xff")) == "u8[2,1,2] {1, 2, 3, 255}");
  CHECK(read_whole_file(idx(0x09, {1}, "\xff")) == "i8[1] {-1}");
  CHECK(read_whole_file(idx(0x0b, {2}, "\0\1\xff\xfe"s)) == "i16[2] {1, -2}");
  CHECK(read_whole_file(idx(0x0c, {1}, "\0\0\1\0"s)) == "i32[1] {256}");
  CHECK(read_whole_file(idx(0x0d, {1}, "\x3f\x80\0\0"s)) == "f32[1] {1}");
  CHECK(read_whole_file(idx(0x0e, {1}, "\x3f\xe0\0\0\0\0\0\0"s)) == "f64[1] {0.5}");
  CHECK(read_whole_file(idx(0x08, {0, 4}, "")) == "u8[0,4] {}");
  CHECK_THAT(read_whole_file(idx(0x08, {3}, "\1\2")), Contains("x: ") && Contains("only 2"));
  CHECK_THAT(read_whole_file(idx(0x08, {1}, "\1\2")), Contains("more than 1"));
  CHECK_THAT(read_whole_file(idx(0x07, {1}, "\1")), Contains("is not an IDX file"));
  CHECK_THAT(read_whole_file(idx(0x08, {}, "")), Contains("is not an IDX file"));
  CHECK_THAT(read_whole_file(idx(0x08, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "1")),
             Contains("is not an IDX file"));
  CHECK_THAT(read_whole_file("\0\0\x08\1\0"s), Contains("ends within its shape"));
  CHECK_THAT(read_whole_file(""), Contains("is not an IDX file"));
  CHECK_THAT(read_whole_file(idx(0x0e, {~0u, ~0u}, "")), Contains("x: "));

  disk.put("x", idx(0x0b, {3, 2}, "\0\1\0\2\0\3\0\4\0\5\0\6"s));
  auto file = open_idx(disk, "x");
  REQUIRE(file);
  CHECK(file->count == 3);
  std::string record;
  CHECK(*file->items->next(record));
  CHECK(*file->items->next(record));
  CHECK(to_string(*parse_idx_item(record, file->type, file->item)) == "i16[2] {3, 4}");
  check_positions([&]() -> opened { return std::move(open_idx(disk, "x")->items); });
  disk.put("x", idx(0x08, {3}, "\1\2"));
  CHECK_THAT(open_idx(disk, "x").status().message(), Contains("3 items") && Contains("cut off"));
  disk.put("x", idx(0x08, {3, 0}, ""));
  CHECK_FALSE(open_idx(disk, "x"));
  auto out = output_stream::create(disk, "x.gz", compression::gzip);
  CHECK(out->write(idx(0x08, {3}, "\1\2\3")).ok());
  CHECK(out->finish().ok());
  CHECK(to_string(*read_idx(disk, "x.gz")) == "u8[3] {1, 2, 3}");
  CHECK(read_all(std::move(open_idx(disk, "x.gz")->items)).size() == 3);
}

TEST_CASE("records of CIFAR become labels and images whose last axis is the colour") {
  std::string record(3074, '\0');
  record[0] = 5;
  record[1] = 7;
  record[2 + 33] = 1;        // red of row 1, column 1
  record[2 + 1024 + 33] = 2; // green
  record[2 + 2048 + 33] = 3;
  auto example = parse_cifar(record, cifar::hundred);
  REQUIRE(example);
  CHECK(example->coarse_label == 5);
  CHECK(example->label == 7);
  auto pixels = example->image.values<uint8_t>();
  CHECK(example->image.dims() == shape{32, 32, 3});
  CHECK((pixels[99] == 1 && pixels[100] == 2 && pixels[101] == 3));
  CHECK(std::ranges::count(pixels, 0) == 3069);
  CHECK(parse_cifar(record.substr(1))->label == 7);
  CHECK_FALSE(parse_cifar(record));
  simulated_disk disk{1};
  disk.put("x", record + record);
  CHECK(read_all(open_cifar(disk, "x", cifar::hundred)).size() == 2);
  CHECK_FALSE(open_cifar(disk, "x"));
}

TEST_CASE("a file that two threads write concurrently has the content of one of them") {
  temporary_folder folder;
  auto path = folder / "a";
  auto files = files_for_readers(real_files());
  std::string first_content(4 << 20, 'a'), second_content(1 << 20, 'b');
  for (int i = 0; i < 20; ++i) {
    status first, second;
    {
      std::jthread writes{[&] { first = files->write(path, first_content); }};
      second = files->write(path, second_content);
    }
    CHECK(first);
    CHECK(second);
    auto content_found = files->read(path);
    REQUIRE(content_found);
    CHECK((*content_found == first_content || *content_found == second_content));
  }
  CHECK(files->match(folder / "*")->size() == 1);
}

TEST_CASE("a disk that cannot read is reported by readers of records") {
  simulated_disk disk{1};
  disk.put("x", tfrecord_of({"first"}));
  auto reader = open_tfrecord(disk, "x");
  disk.faults.failing_reads = 1;
  std::string record;
  CHECK((*reader)->next(record).status().kind() == error_kind::unavailable);
  disk.faults.failing_reads = 0;
  CHECK(*(*reader)->next(record));
  simulated_disk full{1, {.capacity = 10}};
  auto writer = tfrecord_writer::create(full, "x");
  CHECK(writer->add("first").ok()); // buffered, not written yet
  CHECK(writer->finish().kind() == error_kind::resource_exhausted);
}

} // namespace
} // namespace troupe::test::records_test

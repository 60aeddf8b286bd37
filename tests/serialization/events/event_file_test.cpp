#include "troupe/serialization/events/event_file.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/storage/file.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::test::event_file_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

std::string seed_png(const char* name) {
  return *read_file((data_folder("fuzz/corpus/decode_png") / name).string());
}

std::vector<event> read_all(file_system& files, const std::string& path) {
  std::vector<event> events;
  auto reader = open_tfrecord(files, path);
  REQUIRE(reader);
  for (std::string record;;) {
    auto has_record = (*reader)->next(record);
    REQUIRE(has_record);
    if (!*has_record)
      return events;
    auto parsed = parse_event(record);
    REQUIRE(parsed);
    events.push_back(*parsed);
  }
}

TEST_CASE("events of all kinds survive an event file") {
  auto image = parse_png_header(seed_png("rgb.png"));
  REQUIRE(image);
  const std::vector<event> events{
      {.seconds = 1.5, .step = 1, .values = {{"loss", 0.25f}, {"rate", 1e-3f}}},
      {.seconds = 2,
       .step = 2,
       .values = {{"weights", *count_histogram(tensor::vector<float>({1}))}}},
      {.seconds = 2, .step = 2, .values = {{"input", *image}}},
      {.seconds = 3, .graph_def = "\n\0bytes"s},
      {.seconds = 4, .step = -1},
  };
  simulated_disk disk{1};
  auto writer = event_writer::create(disk, "events", 1.25);
  REQUIRE(writer);
  CHECK(read_all(disk, "events").size() == 1); // a reader that starts now knows the format
  for (const auto& written_event : events)
    CHECK(writer->add(written_event).ok());
  CHECK(writer->finish().ok());
  auto back = read_all(disk, "events");
  REQUIRE(back.size() == events.size() + 1);
  CHECK(back[0] == event{.seconds = 1.25, .file_version = "brain.Event:2"});
  CHECK(std::ranges::equal(std::span{back}.subspan(1), events));
}

TEST_CASE("a scalar that is a tensor, as of TensorFlow 2, is read as a number") {
  auto number_in = [](const std::string& tensor_proto) {
    auto value = "\x0a\x04loss\x42"s + static_cast<char>(tensor_proto.size()) + tensor_proto;
    auto record = write_summary_event(1, 2, "\x0a"s + static_cast<char>(value.size()) + value);
    REQUIRE(record);
    auto parsed = parse_event(*record);
    REQUIRE(parsed);
    REQUIRE(parsed->values.size() == 1);
    return parsed->values[0].value;
  };
  const auto f32 = "\x08\x01"s, f64 = "\x08\x02"s, no_axes = "\x12\x00"s;
  CHECK(number_in(f32 + no_axes + "\x2a\x04\x00\x00\x80\x3e"s) ==
        decltype(event_value::value){0.25f});
  CHECK(number_in(f64 + no_axes + "\x32\x08\x00\x00\x00\x00\x00\x00\xd0\x3f"s) ==
        decltype(event_value::value){0.25f});
  // A vector, something that is not a tensor, and a shape without values.
  CHECK(number_in(f32 + "\x12\x04\x12\x02\x08\x01\x2a\x04\x00\x00\x80\x3e"s).index() == 0);
  CHECK(number_in("\x08"s).index() == 0);
  CHECK(number_in(f32 + "\x12\x09\x12\x07\x08\xff\xff\xff\xff\xff\x0f"s).index() == 0);
}

TEST_CASE("event files that TensorFlow has written are read") {
  auto path = data_folder("serialization/goldens") / "events.out.tfevents.1";
  auto events = read_all(real_files(), path.string());
  REQUIRE(events.size() == 4);
  CHECK(events[0].file_version == "brain.Event:2");
  CHECK(events[1].step == 5);
  CHECK(events[1].values == std::vector<event_value>{{"loss", 0.5f}});
  REQUIRE(events[2].values.size() == 1);
  const auto& counts = std::get<histogram>(events[2].values[0].value);
  CHECK(counts.count == 4);
  CHECK(counts.sum == 7);
  CHECK(counts.limits.size() == counts.counts.size());
  const auto& image = std::get<event_image>(events[3].values[0].value);
  CHECK((image.width == 3 && image.height == 2 && image.channels == 1));
  CHECK(*parse_png_header(image.png) == image);
}

TEST_CASE("a histogram counts each value once, in its range") {
  auto counts = count_histogram(tensor::vector<double>({-3, -1e-30, 0, 0, 1, 1.05, 2, 1e30}));
  REQUIRE(counts);
  CHECK(counts->min == -3);
  CHECK(counts->max == 1e30);
  CHECK(counts->count == 8);
  CHECK(counts->sum_squares > 1e59);
  REQUIRE(counts->limits.size() == counts->counts.size());
  CHECK(std::accumulate(counts->counts.begin(), counts->counts.end(), 0.0) == 8);
  CHECK(std::ranges::is_sorted(counts->limits));
  auto up_to = [&](double limit) {
    double sum = 0;
    for (size_t i = 0; i < counts->limits.size() && counts->limits[i] <= limit; ++i)
      sum += counts->counts[i];
    return sum;
  };
  CHECK(up_to(-2) == 1);
  CHECK(up_to(0) == 2);
  CHECK(up_to(0.5) == 4);
  CHECK(up_to(1e20) == 7);
  CHECK(counts->limits.size() < 16); // empty ranges are merged
  for (const auto& counted : {tensor::vector<int64_t>({1, 2}), tensor::vector<uint8_t>({1, 2}),
                              tensor::vector<float16>({float16{1}, float16{2}}),
                              tensor::from_values<bool>({2}, {true, false})})
    CHECK(count_histogram(counted)->count == 2);
  CHECK(count_histogram(tensor::from_values<float>({0}, {}))->count == 0);
  CHECK_THAT(count_histogram(tensor::vector<float>({1, NAN})).status().message(),
             Contains("finite"));
  CHECK_FALSE(count_histogram(tensor::vector<float>({INFINITY})));
  CHECK_FALSE(count_histogram(tensor::vector<std::string>({"a"})));
  CHECK_FALSE(count_histogram(tensor{}));
}

TEST_CASE("bytes that are not PNG are refused as an event's image") {
  CHECK(parse_png_header(seed_png("gray.png"))->channels == 1);
  CHECK(parse_png_header(seed_png("rgb.png"))->channels == 3);
  CHECK(parse_png_header(seed_png("palette.png"))->channels == 3);
  auto png = seed_png("rgb.png");
  CHECK_FALSE(parse_png_header(png.substr(0, 25)));
  CHECK_FALSE(parse_png_header("GIF89a" + png));
  png[25] = 1;
  CHECK_FALSE(parse_png_header(png));
  CHECK_FALSE(parse_png_header(""));
}

TEST_CASE("records that are no events are refused") {
  CHECK(parse_event("")->values.empty());
  CHECK(parse_event("\xff").status().kind() == error_kind::data_loss);
  CHECK(parse_event("\x2a\x7f").status().kind() == error_kind::data_loss);
}

TEST_CASE("event files have names that TensorBoard recognizes, sorted by time") {
  CHECK(event_file_name(1700000000.7, "host", 7) == "events.out.tfevents.1700000000.host.7");
  CHECK(event_file_name(1, "h", 0) == "events.out.tfevents.0000000001.h.0");
  CHECK(event_file_name(-1, "h", 0) == "events.out.tfevents.0000000000.h.0");
}

} // namespace
} // namespace troupe::test::event_file_test

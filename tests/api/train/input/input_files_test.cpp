// Input from files: whole programs with readers, buckets, prefetched batches and statistics.
#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/records/text_records.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/troupe.hpp"

#include <fstream>
#include <map>
#include <set>

namespace troupe::test::input_files_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

void write(const std::string& path, std::string_view content) {
  std::ofstream{path, std::ios::binary} << content;
}

template <class T>
T must(result<T> outcome) {
  INFO(outcome.status());
  REQUIRE(outcome.ok());
  return *std::move(outcome);
}

// The values that steps fetch until the data ends, as texts.
std::vector<std::string> all_of(session& s, const std::vector<edge>& from) {
  std::vector<std::string> result;
  try {
    for (;;) {
      std::string text;
      for (const auto& fetched : s.run({}, from, {}))
        text += concat(text.empty() ? "" : " ", fetched);
      result.push_back(text);
    }
  } catch (const error& thrown) {
    INFO(thrown.what());
    CHECK(thrown.kind() == error_kind::out_of_range);
  }
  return result;
}

} // namespace

TEST_CASE("lines of files come in batches, and the end of the last file ends the data") {
  watchdog watch;
  temporary_folder folder;
  write(folder / "a.txt", "one\ntwo\nthree");
  write(folder / "b.txt", "four\n");
  graph_builder g;
  input_pipeline input{g};
  auto files = matching_files(g, tensor::scalar(folder / "*.txt"));
  auto line = input.records(files, text_lines{}, {.epochs = 1, .shuffle = false});
  auto batch = input.batch({line.value}, 3, {.allow_smaller_final_batch = true});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(all_of(s, batch) ==
        std::vector<std::string>{R"(string[3] {"one", "two", "three"})", R"(string[1] {"four"})"});
  coord.join(10s);
}

TEST_CASE("many records are read at once, for ops that take many") {
  watchdog watch;
  temporary_folder folder;
  auto file = must(tfrecord_writer::create(real_files(), folder / "a", compression::gzip));
  for (char i = 0; i < 10; ++i)
    REQUIRE(file.add(std::string(2, i)));
  REQUIRE(file.finish());
  graph_builder g;
  input_pipeline input{g};
  auto names = g.constant(tensor::vector<std::string>({folder / "a"}));
  auto records =
      input.records(names, tf_records{.compression = "GZIP"}, {.epochs = 2, .records_per_read = 4});
  auto numbers = decode_raw(records.value, dtype::u8);
  auto batch = input.batch({numbers}, 8, {.enqueue_many = true, .shapes = {shape{2}}});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  auto result = all_of(s, {sum(cast(batch[0], dtype::i32), {1})});
  CHECK(result == std::vector<std::string>{"i32[8] {0, 2, 4, 6, 8, 10, 12, 14}",
                                           "i32[8] {16, 18, 0, 2, 4, 6, 8, 10}"});
}

TEST_CASE(
    "a damaged, truncated or missing file stops the pipeline, and the error names file and byte") {
  watchdog watch;
  temporary_folder folder;
  auto write_records = [&](const std::string& name) {
    auto file = must(tfrecord_writer::create(real_files(), folder / name));
    for (int i = 0; i < 100; ++i)
      REQUIRE(file.add("12345678"));
    REQUIRE(file.finish());
  };
  write_records("damaged");
  {
    std::fstream file{folder / "damaged", std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(24 * 70 + 12);
    file.put('x');
  }
  write_records("cut");
  std::filesystem::resize_file(folder / "cut", 24 * 70 + 13);
  for (std::string name : {"damaged", "cut", "missing"}) {
    INFO(name);
    auto missing = name == "missing";
    graph_builder g;
    input_pipeline input{g};
    auto names = g.constant(tensor::vector<std::string>({folder / name}));
    auto record = input.records(names, tf_records{});
    auto batch = input.batch({record.value}, 10);
    auto s = session::local();
    coordinator coord;
    input.start(s, coord);
    CHECK(all_of(s, batch).size() == (missing ? 0 : 7));
    try {
      coord.join(10s);
      FAIL("join did not throw");
    } catch (const error& thrown) {
      CHECK(thrown.kind() == (missing ? error_kind::not_found : error_kind::data_loss));
      CHECK_THAT(thrown.what(), Contains("ReaderRead 'records/read'") && Contains(folder / name));
      CHECK_THAT(thrown.what(), Contains(missing ? "missing" : "record 70 at byte 1680"));
    }
  }
}

TEST_CASE("a pipeline without files or rows is an error, and does not wait for ever") {
  watchdog watch;
  temporary_folder folder;
  graph_builder g;
  input_pipeline input{g};
  auto pattern = folder / "*.none";
  std::vector<edge> outputs;
  std::string expected_text;
  auto epochs = GENERATE(-1, 2);
  if (GENERATE(true, false)) {
    auto files = matching_files(g, tensor::scalar(pattern));
    outputs = {input.records(files, text_lines{}, {.epochs = epochs}).value};
    expected_text = concat("\"there are no files to read\" \"", pattern);
  } else {
    outputs = {input.producer(tensor::from_values<float>({0}, {}), {.epochs = epochs})};
    expected_text = "there are no rows to produce";
  }
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(coord.wait_for_stop(5s));
  CHECK(all_of(s, outputs).empty());
  try {
    coord.join(10s);
    FAIL("join did not throw");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::invalid_argument);
    CHECK_THAT(thrown.what(), Contains(expected_text));
  }
}

TEST_CASE("a step that reads and then fails gives its record back") {
  watchdog watch;
  temporary_folder folder;
  write(folder / "a", "1\n2\n3\n");
  graph_builder g;
  auto fails = g.placeholder(dtype::boolean, {}, "fails");
  auto files = fifo_queue(g, {dtype::string}, {.shapes = {shape{}}}, "files");
  auto* enqueue = queue_enqueue(files, {g.constant(tensor::scalar<std::string>(folder / "a"))});
  auto reader = text_line_reader(g, {}, "reader");
  auto read = reader_read(reader, files, {}, "read");
  auto checked = [&] {
    auto order = g.after({read.value.node});
    return assert_(logical_not(fails), {fails});
  }();
  auto count = reader_num_records_produced(reader);
  auto s = session::local();
  s.run(enqueue);
  auto step = s.prepare({fails}, {read.value}, {checked});
  auto true_value = tensor::scalar(true), false_value = tensor::scalar(false);
  CHECK(to_scalar<std::string>(step.run({false_value})[0]) == "1");
  CHECK_THROWS_AS(step.run({true_value}), error);
  CHECK_THROWS_AS(step.run({true_value}), error);
  CHECK(to_scalar<std::string>(step.run({false_value})[0]) == "2");
  CHECK(to_scalar<int64_t>(s.fetch(count)) == 2);
}

TEST_CASE("a read that waits for a file reports that at its deadline, and takes no record") {
  watchdog watch;
  temporary_folder folder;
  write(folder / "a", "1\n2\n");
  graph_builder g;
  auto files = fifo_queue(g, {dtype::string}, {.shapes = {shape{}}}, "files");
  auto* enqueue = queue_enqueue(files, {g.constant(tensor::scalar<std::string>(folder / "a"))});
  auto reader = text_line_reader(g, {}, "reader");
  auto read = reader_read(reader, files, {}, "read");
  auto size = queue_size(files);
  auto s = session::local();
  try {
    s.run({}, {read.value}, {}, {.timeout = 50ms});
    FAIL("the read did not wait");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::deadline_exceeded);
    CHECK_THAT(thrown.what(), Contains("ReaderRead 'read'") && Contains("on reader 'reader'"));
  }
  s.run(enqueue);
  CHECK(to_scalar<int32_t>(s.fetch(size)) == 1); // the ended step has not consumed it
  CHECK(to_scalar<std::string>(s.fetch(read.value)) == "1");
}

TEST_CASE("files are written and read by other threads, and errors name them") {
  watchdog watch;
  temporary_folder folder;
  graph_builder g;
  auto path = g.placeholder(dtype::string, {}, "path");
  auto* write_node =
      write_file(path, string_join({path, g.constant(tensor::scalar<std::string>("!"))}));
  auto content = read_file(g, path);
  auto s = session::local();
  auto name = tensor::scalar<std::string>(folder / "some/folders/a");
  s.run({{path, name}}, {}, {write_node});
  CHECK(to_scalar<std::string>(s.run({{path, name}}, {content}, {})[0]) ==
        folder / "some/folders/a!");
  CHECK_THROWS_WITH(s.run({{path, tensor::scalar<std::string>(folder / "b")}}, {content}, {}),
                    Contains("ReadFile") && Contains(folder / "b"));
}

TEST_CASE("elements of similar length form a batch, each once") {
  watchdog watch;
  std::vector<int> lengths;
  for (int i = 0; i < 60; ++i)
    lengths.push_back(1 + i * 7 % 12);
  graph_builder g;
  input_pipeline input{g};
  auto length = input.producer(tensor::vector(lengths), {.epochs = 1, .shuffle = false});
  auto row = fill(g, reshape(length, {1}), length);
  auto batch = input.bucket_by_length(length, {length, row}, {4, 8}, {6, 4, 2},
                                      {.concurrent_enqueues = 2,
                                       .allow_smaller_final_batch = true,
                                       .shapes = {shape{}, partial_shape{-1}}});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  std::multiset<int> ids;
  try {
    for (;;) {
      auto results = s.run({}, batch, {});
      auto row_numbers = results[0].values<int>();
      auto rows = results[1].values<int>();
      auto width = results[1].dims()[1];
      auto bucket = row_numbers[0] < 4 ? 0 : row_numbers[0] < 8 ? 1 : 2;
      const int64_t batch_sizes[] = {6, 4, 2}, below[] = {4, 8, 13}, from[] = {1, 4, 8};
      CHECK(results[0].elements() <= batch_sizes[bucket]);
      CHECK(width < below[bucket]);
      for (int64_t i = 0; i < results[0].elements(); ++i) {
        auto n = row_numbers[static_cast<size_t>(i)];
        CHECK(n >= from[bucket]);
        CHECK(n < below[bucket]);
        ids.insert(n);
        for (int64_t k = 0; k < width; ++k)
          CHECK(rows[static_cast<size_t>(i * width + k)] == (k < n ? n : 0));
      }
    }
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::out_of_range);
  }
  CHECK(ids == std::multiset<int>(lengths.begin(), lengths.end()));
  coord.join(10s);
}

TEST_CASE("an incomplete bucket is dropped unless it is requested") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g};
  auto length =
      input.producer(tensor::vector<int>({1, 5, 1, 5, 1}), {.epochs = 1, .shuffle = false});
  auto batch = input.bucket_by_length(length, {length}, {3}, {2});
  CHECK(batch[0].dims() == partial_shape{2});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  auto result = all_of(s, batch);
  std::ranges::sort(result);
  CHECK(result == std::vector<std::string>{"i32[2] {1, 1}", "i32[2] {5, 5}"});
}

TEST_CASE("prefetched batches come in order, to the end of the data") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.epochs = 2, .shuffle = false});
  auto batch = input.prefetch(input.batch({row}, 2), {.device = "/cpu:0"});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(all_of(s, {batch[0]}) ==
        std::vector<std::string>{"i32[2] {5, 6}", "i32[2] {7, 5}", "i32[2] {6, 7}"});
}

TEST_CASE("repeated input gives the first batches repeatedly, and reads no more") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g, {.repeat_input_after = 3}};
  auto row = input.producer(tensor::vector<int>({1, 2, 3, 4, 5, 6, 7, 8, 9}), {.shuffle = false});
  auto batch_edges = input.batch({row}, 2);
  auto batch = input.prefetch(batch_edges);
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  // A batch may be repeated before the next one is read for the first time.
  std::map<std::string, int> row_counts;
  int taken_rows = 0;
  while (row_counts.size() < 3) {
    ++row_counts[concat(s.fetch(batch[0]))];
    ++taken_rows;
  }
  CHECK(row_counts.contains("i32[2] {1, 2}"));
  CHECK(row_counts.contains("i32[2] {3, 4}"));
  CHECK(row_counts.contains("i32[2] {5, 6}"));
  std::vector<std::string> round;
  for (int i = 0; i < 9; ++i, ++taken_rows)
    round.push_back(concat(s.fetch(batch[0])));
  CHECK(std::set(round.begin(), round.end()).size() == 3);
  for (size_t i = 3; i < round.size(); ++i)
    CHECK(round[i] == round[i - 3]);
  auto used = input.statistics(s);
  CHECK(used.queues.at(1).dequeues == 3);
  CHECK(used.queues.at(2).dequeues == taken_rows);
  coord.request_stop();
  coord.join(10s);

  graph_builder other_graph;
  input_pipeline empty_pipeline{other_graph, {.repeat_input_after = 3}};
  empty_pipeline.batch({empty_pipeline.producer(tensor::vector<int>({1}), {})}, 1);
  auto t = session::local();
  coordinator stop;
  CHECK_THROWS_WITH(empty_pipeline.start(t, stop), Contains("needs a prefetch()"));
}

TEST_CASE("queues report their use, and one sentence names the slow part") {
  watchdog watch;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.shuffle = false}, "rows");
  auto batch = input.batch({row}, 2, {.capacity = 8}, "batch");
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  s.fetch(batch[0]);
  // Until the queue is full and its runner waits.
  while (input.statistics(s).queues.at(1).enqueue_waiting == 0)
    std::this_thread::sleep_for(1ms);
  auto before = input.statistics(s);
  for (int i = 0; i < 5; ++i)
    s.fetch(batch[0]);
  auto used = input.statistics(s) - before;
  REQUIRE(used.queues.size() == 2);
  CHECK_FALSE(used.queues[0].is_last_stage);
  CHECK(used.queues[1].is_last_stage);
  CHECK(used.queues[1].dequeues == 5);
  CHECK(used.queues[1].seconds > 0);
  CHECK(used.queues[1].mean_size > 0);
  CHECK(used.queues[1].mean_size <= 8);
  CHECK(used.queues[1].dequeue_waiting <= used.queues[1].seconds);
  coord.request_stop();
  coord.join(10s);
}

TEST_CASE("the sentence about input names the waiting side and its queue") {
  auto queue = [](std::string name, double wait_seconds, bool last) {
    queue_usage use;
    use.queue = std::move(name);
    use.seconds = 10;
    use.dequeue_waiting = wait_seconds;
    use.is_last_stage = last;
    return use;
  };
  CHECK(describe_input({}) == "there is no input to wait for");
  CHECK(describe_input({{queue("files", 9, false), queue("batch", 0.2, true)}}) ==
        "the input keeps up: 2 % of each step waits for 'batch'");
  CHECK(describe_input({{queue("files", 1, false), queue("batch", 3.84, true)}}) ==
        "the input is the bottleneck: 38 % of each step waits for 'batch'");
  CHECK(describe_input({{queue("files", 1, false), queue("lines", 9, false),
                         queue("other", 1, true), queue("batch", 7, true)}}) ==
        "the input is the bottleneck: 70 % of each step waits for 'batch'; the stage that fills "
        "'lines' is the slowest");
}

TEST_CASE("digits in a TFRecord file are read, decoded, shuffled and learned") {
  watchdog watch;
  temporary_folder folder;
  auto csv = must(open_lines(real_files(), (data_folder("") / "../examples/data/digits.csv.gz"),
                             {.kind = compression::gzip}));
  auto file = must(tfrecord_writer::create(real_files(), folder / "digits", compression::zlib));
  int rows = 0;
  for (std::string line; must(csv->next(line)); ++rows) {
    std::string record;
    for (size_t position = 0, next = 0; next != line.npos; position = next + 1) {
      next = line.find(',', position);
      record += static_cast<char>(std::stoi(line.substr(position, next - position)));
    }
    REQUIRE(record.size() == 65);
    REQUIRE(file.add(record));
  }
  REQUIRE(file.finish());
  REQUIRE(rows == 1797);

  graph_builder g;
  input_pipeline input{g};
  auto names = g.constant(tensor::vector<std::string>({folder / "digits"}));
  auto record =
      input.records(names, tf_records{"ZLIB"}, {.epochs = 4, .records_per_read = 64}).value;
  auto bytes = decode_raw(record, dtype::u8);
  auto batch = input.prefetch(
      input.shuffle_batch({bytes}, 32, {.enqueue_many = true, .seed = 3, .shapes = {shape{65}}}));
  auto images = cast(slice(batch[0], {0, 0}, {-1, 64}), dtype::f32) / 16.0f;
  auto labels = reshape(cast(slice(batch[0], {0, 64}, {-1, 1}), dtype::i32), {-1});
  auto logits = dense(g, dense(g, images, 32, {.activation = relu}), 10);
  auto loss = softmax_loss(logits, labels);
  auto* train = adam{0.01f}.minimize(loss);
  auto mean_accuracy = mean(cast(equal(cast(arg_max(logits, 1), dtype::i32), labels), dtype::f32));
  auto s = session::local();
  s.run(g.initializer());
  coordinator coord;
  input.start(s, coord);
  std::vector<float> accuracy;
  try {
    for (;;)
      accuracy.push_back(to_scalar<float>(s.run({}, {mean_accuracy}, {train})[0]));
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::out_of_range);
  }
  coord.join(10s);
  CHECK(accuracy.size() == 4 * 1797 / 32);
  float last = 0;
  for (size_t i = accuracy.size() - 50; i < accuracy.size(); ++i)
    last += accuracy[i] / 50;
  CHECK(last > 0.9f);
}

TEST_CASE("a pipeline refuses invalid files, buckets and batches") {
  graph_builder g;
  input_pipeline input{g};
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto n = g.placeholder(dtype::i32, {}, "n");
  auto names = g.constant(tensor::vector<std::string>({"a"}));
  CHECK_THROWS_WITH(input.records(tensor::vector<float>({1}), text_lines{}),
                    Contains("files must be names"));
  CHECK_THROWS_WITH(input.records(names, text_lines{}, {.records_per_read = 0}),
                    Contains("records_per_read"));
  CHECK_THROWS_WITH(input.records(names, byte_records{}), Contains("record_bytes"));
  CHECK_THROWS_WITH(input.records(names, tf_records{"LZ4"}), Contains("LZ4"));
  CHECK_THROWS_WITH(input.bucket_by_length(n, {x}, {3, 3}, {1}), Contains("must increase"));
  CHECK_THROWS_WITH(input.bucket_by_length(n, {x}, {3, 4}, {1, 2}), Contains("3 buckets, got 2"));
  CHECK_THROWS_WITH(input.bucket_by_length(n, {x}, {3}, {0}), Contains("positive"));
  CHECK_THROWS_WITH(input.prefetch({}), Contains("at least one tensor"));
  CHECK_THROWS_WITH(input.prefetch({x}, {.capacity = 0}), Contains("capacity"));
  CHECK_THROWS_AS(queue_runner(fifo_queue(g, {dtype::f32}), {no_op(g)}).also_close({x}), error);
}

} // namespace troupe::test::input_files_test

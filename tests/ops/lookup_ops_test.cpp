// Lookup tables beyond the cases of their examples.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "troupe/ops/lookup/shared/lookup_table.hpp"
#include "troupe/serialization/text/close_to.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>

namespace troupe::test::lookup_ops_test {

using troupe::ops::lookup_table;
using troupe::ops::table_content;

namespace {

const std::string constant_table = "t = HashTable key_dtype=string value_dtype=i64\n";
const std::string mutable_table = "t = MutableHashTable key_dtype=string value_dtype=i64\n";

void holds(const std::string& text) {
  for (const auto& failure_text : differences_of(library(), text, small_device()))
    FAIL_CHECK(failure_text << "\nof\n" << text);
}

// A temporary text file.
class text_file {
public:
  explicit text_file(std::string_view content) {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            concat("troupe_lookup_", getpid(), '_', count++, ".txt");
    std::ofstream{path_, std::ios::binary} << content;
  }
  text_file(const text_file&) = delete;
  text_file& operator=(const text_file&) = delete;
  ~text_file() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

// Initializes a table from such a file, then looks up all keys.
struct from_file {
  std::string content, attrs;
  std::string key = "string", value = "i64";

  std::string graph(const std::string& path) const {
    return concat("t = HashTable key_dtype=", key, " value_dtype=", value,
                  "\ninit = InitializeTableFromTextFile(t, string(\"", path, "\")) ", attrs,
                  "\nall = LookupTableExport(t) Tkeys=", key, " Tvalues=", value,
                  "\ntarget init\n");
  }
  void gives(const std::string& keys, const std::string& values) const {
    text_file file{content};
    holds(concat(graph(file.path()), "run\nfetch all = ", key, keys, "\nfetch all:1 = ", value,
                 values, '\n'));
  }
  void fails(const std::string& kind, const std::string& message) const {
    text_file file{content};
    auto text = message;
    if (auto at = text.find("FILE"); at != text.npos)
      text.replace(at, 4, file.path());
    holds(concat(graph(file.path()), "error ", kind, " \"", text, "\"\n"));
  }
};

tensor looked_up(const lookup_table& table, const tensor& keys, const tensor& absent) {
  kernel_context at{nullptr, small_device()};
  auto values = *tensor::make(table.holds().value, keys.dims());
  auto outcome = table.find(at, keys, absent, values);
  INFO(outcome);
  REQUIRE(outcome.ok());
  return values;
}

} // namespace

TEST_CASE("a constant table is initialized before it is used, and only once") {
  holds(R"(
t = HashTable key_dtype=string value_dtype=i64
init = InitializeTable(t, string["a", "b", "a"], i64[1, 2, 1])
again = InitializeTable(t, string["b", "a"], i64[2, 1])
more = InitializeTable(t, string["a", "b", "c"], i64[1, 2, 3])
other = LookupTableImport(t, string["a", "b"], i64[1, 3])
found = LookupTableFind(t, string[["a"], ["z"]], i64(-1))
size = LookupTableSize(t)
all = LookupTableExport(t) Tkeys=string Tvalues=i64
fetch found
error failed_precondition "table 't' is not initialized: run its initializer"
run
fetch all
error failed_precondition "table 't' is not initialized"
run
fetch size = i64(0)
run
target init
run
target again
run
target more
error failed_precondition "table 't' was initialized already, with other pairs"
run
target other
error failed_precondition "table 't' was initialized already, with other pairs"
run
fetch found = i64[[1], [-1]]
fetch size = i64(2)
fetch all = string["a", "b"]
fetch all:1 = i64[1, 2]
)");
}

TEST_CASE("pairs with two values for a key do not initialize a table") {
  holds(R"(
t = HashTableV2 key_dtype=string value_dtype=f32
init = InitializeTableV2(t, string["a", "b", "a"], f32[1, 2, 3])
good = InitializeTableV2(t, string["a", "b"], f32[1, nan])
same = InitializeTableV2(t, string["a", "b", "b"], f32[1, nan, nan])
found = LookupTableFindV2(t, string["a"], f32(0))
target init
error invalid_argument "table 't': the key string[] {\"a\"} comes with two values, f32[] {1} and f32[] {3}"
run
fetch found
error failed_precondition "not initialized"
run
target good
run
target same
run
fetch found = f32[1]
)");
}

TEST_CASE("a graph that uses a table with other types or shapes than the table's is refused") {
  holds(constant_table + R"(
x = LookupTableFind(t, i64[1], i64(0))
error invalid_argument "table 't' has keys of type string, got i64"
)");
  holds(constant_table + R"(
x = LookupTableFind(t, string["a"], f32(0))
error invalid_argument "table 't' has values of type i64, got f32"
)");
  holds(constant_table + R"(
x = LookupTableFind(t, string["a", "b"], i64[0])
error invalid_argument "default_value must have shape [], or one for each key, [2]; got [1]"
)");
  holds(constant_table + R"(
x = InitializeTable(t, string["a", "b"], i64[0])
error invalid_argument "keys have shape [2], so values must have shape [2], got [1]"
)");
  holds(constant_table + R"(
x = InitializeTable(t, string[["a", "b"]], i64[[0, 1]])
error invalid_argument "must have 1 axes, got shape [1,2]"
)");
  holds(constant_table + R"(
x = LookupTableExport(t) Tkeys=i64 Tvalues=i64
error invalid_argument "table 't' has keys of type string, got i64"
)");
  holds(R"(
t = MutableHashTableOfTensors key_dtype=string value_dtype=i64 value_shape=[2, -1]
error invalid_argument "value_shape must be fully known"
)");
}

TEST_CASE("a constant table does not change, and a mutable table is not initialized") {
  holds(constant_table + R"(
x = LookupTableInsert(t, string["a"], i64[0])
error invalid_argument "table 't' is initialized once and does not change: a MutableHashTable does"
)");
  holds(constant_table + R"(
x = LookupTableRemoveV2(t, string["a"])
error invalid_argument "table 't' is initialized once and does not change: a MutableHashTable does"
)");
  holds(mutable_table + R"(
x = InitializeTable(t, string["a"], i64[0])
error invalid_argument "table 't' may change at any time: LookupTableInsert or LookupTableImport fill it"
)");
  holds(mutable_table + R"(
x = InitializeTableFromTextFile(t, string("x")) key_index=0 value_index=1
error invalid_argument "table 't' may change at any time"
)");
}

TEST_CASE(
    "a graph that uses a table as another resource, or another value as a table, is refused") {
  holds(mutable_table + R"(
x = Assign(t, string("a"))
error invalid_argument "input ref must be a variable, but 't' is a table"
)");
  holds(R"(
v = VariableV2 dtype=string shape=[]
x = LookupTableSize(v)
error invalid_argument "input table_handle must be a table, but 'v' is a variable"
)");
  holds(R"(
x = LookupTableSize(string("t"))
error invalid_argument "must be a table itself, but '"
)");
}

TEST_CASE("a table's types and keys that are unknown in the graph are checked at run time") {
  holds(R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
keys = Placeholder dtype=i64 shape=?
values = Placeholder dtype=i64 shape=?
put = LookupTableInsert(t, keys, values)
load = LookupTableImport(t, keys, values)
found = LookupTableFind(t, keys, values)
size = LookupTableSize(t)
feed keys = i64[1, 2]
feed values = i64[1]
target put
error invalid_argument "one for each of keys of shape [2] cannot have shape [1]"
run
feed keys = i64[[1, 2]]
feed values = i64[[1, 2]]
target load
error invalid_argument "keys must be a vector, got shape [1,2]"
run
feed keys = i64[1, 2]
feed values = i64[1, 2, 3]
fetch found
error invalid_argument "default_value must be i64[], or one for each key, i64[2]; got i64[3]"
run
fetch size = i64(0)
)");
}

TEST_CASE("a mutable table keeps the order of its keys, except that new keys fill removed places") {
  holds(R"(
t = MutableHashTable key_dtype=string value_dtype=string
put = LookupTableInsert(t, string[["a", "b"], ["c", "d"]], string[["1", "2"], ["3", "4"]])
over = LookupTableInsert(t, string["c", "e"], string["33", "5"])
drop = LookupTableRemoveV2(t, string["b", "nobody", "b"])
all = LookupTableExport(t) Tkeys=string Tvalues=string
empty = LookupTableImport(t, string{0}[], string{0}[])
target put
run
target over
run
fetch all = string["a", "b", "c", "d", "e"]
fetch all:1 = string["1", "2", "33", "4", "5"]
run
target drop
run
fetch all = string["a", "e", "c", "d"]
fetch all:1 = string["1", "5", "33", "4"]
run
target empty
run
fetch all = string{0}[]
fetch all:1 = string{0}[]
)");
}

TEST_CASE("a table that is exported and imported into another is the same") {
  holds(R"(
a = MutableHashTableV2 key_dtype=i64 value_dtype=f64
b = MutableHashTableV2 key_dtype=i64 value_dtype=f64
put = LookupTableInsertV2(a, i64[5, -5, 0], f64[0.5, -0.5, 0])
other = LookupTableInsertV2(b, i64[7], f64[7])
saved = LookupTableExportV2(a) Tkeys=i64 Tvalues=f64
load = LookupTableImportV2(b, saved, saved:1)
found = LookupTableFindV2(b, i64[0, 5, -5, 7], f64(-1))
target put
target other
run
target load
run
fetch found = f64[0, 0.5, -0.5, -1]
)");
}

TEST_CASE("tables support all types of keys and values") {
  std::map<std::string, std::string> keys{
      {"i32", "[1, -2]"}, {"i64", "[1, -2]"}, {"string", "[\"1\", \"\"]"}};
  std::map<std::string, std::string> values{{"bool", "[true, false]"}, {"i32", "[1, 2]"},
                                            {"i64", "[1, 2]"},         {"f32", "[1.5, inf]"},
                                            {"f64", "[1.5, nan]"},     {"string", "[\"x\", \"\"]"}};
  for (const auto& [key, some_keys] : keys)
    for (const auto& [value, some] : values)
      for (const std::string maker : {"HashTable", "MutableHashTable"}) {
        auto zero = value == "string" ? "\"no\"" : value == "bool" ? "false" : "0";
        holds(concat("t = ", maker, " key_dtype=", key, " value_dtype=", value,
                     "\nfill = LookupTableImport(t, ", key, some_keys, ", ", value, some,
                     ")\nfound = LookupTableFind(t, ", key, some_keys, ", ", value, '(', zero,
                     "))\ntarget fill\nrun\nfetch found = ", value, some, '\n'));
      }
}

TEST_CASE("a table of tensors has a tensor for each key, however many axes the keys have") {
  holds(R"(
t = MutableHashTableOfTensorsV2 key_dtype=string value_dtype=string value_shape=[2]
put = LookupTableInsertV2(t, string["a", "b"], string[["1", "2"], ["3", "4"]])
found = LookupTableFindV2(t, string[["b"], ["z"]], string["?", "!"])
each = LookupTableFindV2(t, string["a", "z"], string[["?", "!"], ["5", "6"]])
drop = LookupTableRemoveV2(t, string["a"])
all = LookupTableExportV2(t) Tkeys=string Tvalues=string
target put
run
fetch found = string[[["3", "4"]], [["?", "!"]]]
fetch each = string[["1", "2"], ["5", "6"]]
run
target drop
run
fetch all:1 = string[["3", "4"]]
)");
  holds(R"(
t = MutableHashTableOfTensors key_dtype=i64 value_dtype=f32 value_shape=[0, 3]
put = LookupTableInsert(t, i64[1], f32{1,0,3}[])
size = LookupTableSize(t)
target put
run
fetch size = i64(1)
)");
}

TEST_CASE("text files give keys and values by line and by column") {
  from_file{"a\nb\nc\n", "key_index=-2 value_index=-1"}.gives("[\"a\", \"b\", \"c\"]", "[0, 1, 2]");
  from_file{"a\nb\nc", "key_index=-2 value_index=-1 offset=5"}.gives("[\"a\", \"b\", \"c\"]",
                                                                     "[5, 6, 7]");
  from_file{"a\r\nb\r\n", "key_index=-2 value_index=-1"}.gives("[\"a\", \"b\"]", "[0, 1]");
  from_file{"a\nb\nc\n", "key_index=-2 value_index=-1 vocab_size=2"}.gives("[\"a\", \"b\"]",
                                                                           "[0, 1]");
  from_file{"a\t1\nb\t 2 \tx\n", "key_index=0 value_index=1"}.gives("[\"a\", \"b\"]", "[1, 2]");
  from_file{"a\t1\na\t1\n", "key_index=0 value_index=1"}.gives("[\"a\"]", "[1]");
  from_file{"", "key_index=0 value_index=1"}.gives("{0}[]", "{0}[]");
  from_file{"x y,,+3\nz,q,-4\n", "key_index=2 value_index=1 delimiter=\",\"", "i32", "string"}
      .gives("[3, -4]", "[\"\", \"q\"]");
  from_file{"5\n6\n", "key_index=-1 value_index=-2", "i64", "f32"}.gives("[0, 1]", "[5, 6]");
  from_file{"a 1.5\nb inf\nc 1e3\n", "key_index=0 value_index=1 delimiter=\" \"", "string", "f64"}
      .gives("[\"a\", \"b\", \"c\"]", "[1.5, inf, 1000]");
}

TEST_CASE("the error for a line that does not fit the table names line and file") {
  auto columns = "key_index=0 value_index=1";
  from_file{"a\t1\nb\n", columns}.fails(
      "invalid_argument", "FILE:2: has only 1 column between '\\\\t', number 1 (from 0) is wanted");
  from_file{"a\t1\nb\tx\n", columns}.fails("invalid_argument",
                                           "FILE:2: 'x' is not a number of type i64");
  from_file{"a\t99999999999\n", columns, "string", "i32"}.fails(
      "invalid_argument", "FILE:1: '99999999999' is not a number of type i32");
  from_file{"a\n\nb\n", "key_index=-2 value_index=-1"}.fails(
      "invalid_argument", "FILE:2: is empty, a pair was expected");
  from_file{"a\t1\na\t2\n", columns}.fails("invalid_argument", "comes with two values");
  from_file{"a\nb\n", "key_index=-2 value_index=-1 vocab_size=3"}.fails(
      "invalid_argument", "has 2 lines, vocab_size says 3");
}

TEST_CASE("unreadable files and meaningless attributes are errors that say so") {
  const std::string table = "t = HashTable key_dtype=string value_dtype=i64\n";
  auto init = [&](const std::string& path, const std::string& attrs, const std::string& error) {
    holds(concat(table, "init = InitializeTableFromTextFile(t, string(\"", path, "\")) ", attrs,
                 "\ntarget init\nerror ", error, '\n'));
  };
  auto lines = "key_index=-2 value_index=-1";
  init("/nowhere/words.txt", lines, "not_found \"there is no file '/nowhere/words.txt'\"");
  init(std::filesystem::temp_directory_path().string(), lines,
       "invalid_argument \"is not a regular file\"");
  init("/dev/zero", lines, "invalid_argument \"is not a regular file\"");
  init("x", "key_index=-3 value_index=-1", "invalid_argument \"key_index must be at least -2\"");
  init("x", "key_index=0 value_index=1 vocab_size=0",
       "invalid_argument \"vocab_size must be positive, or -1 for all lines\"");
  init("x", "key_index=0 value_index=1 delimiter=\", \"",
       "invalid_argument \"delimiter must be one byte\"");
  init("x", "key_index=-1 value_index=1",
       "invalid_argument \"key_index -1 stands for the number of the line, which is i64\"");
  holds(R"(
t = HashTable key_dtype=string value_dtype=bool
init = InitializeTableFromTextFile(t, string("x")) key_index=0 value_index=1
error invalid_argument "a text file tells no truth values"
)");
}

TEST_CASE("a table has the content of a map after the same changes") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  auto memory = &heap_allocator();
  for (auto range : {5, 40, 3000}) {
    lookup_table table{"t", {.key = dtype::i64, .value = dtype::i64}};
    lookup_table words{"w", {.key = dtype::string, .value = dtype::string}};
    std::map<int64_t, int64_t> model;
    for (int round = 0; round < 300; ++round) {
      std::vector<int64_t> keys(random() % 20), values;
      std::vector<std::string> key_words, value_words;
      for (auto& key : keys) {
        key = static_cast<int64_t>(random() % static_cast<unsigned>(range)) - range / 2;
        values.push_back(static_cast<int64_t>(random()));
        key_words.push_back(std::to_string(key));
        value_words.push_back(std::string(30, 'x') + std::to_string(values.back()));
      }
      auto k = tensor::vector(keys), kw = tensor::vector(key_words);
      if (random() % 3 == 0) {
        REQUIRE(table.remove(k).ok());
        REQUIRE(words.remove(kw).ok());
        for (auto key : keys)
          model.erase(key);
      } else {
        auto vw = tensor::vector(value_words);
        REQUIRE(table.insert({k, tensor::vector(values)}, *memory).ok());
        REQUIRE(words.insert({kw, vw}, *memory).ok());
        REQUIRE(identical(vw, tensor::vector(value_words))); // the table holds copies
        for (size_t i = 0; i < keys.size(); ++i)
          model[keys[i]] = values[i];
      }
      REQUIRE(table.size() == std::ssize(model));
      REQUIRE(words.size() == std::ssize(model));
    }
    std::vector<int64_t> keys_asked, expected;
    std::vector<std::string> all_words, expected_words;
    for (int64_t key = -range; key <= range; ++key) {
      auto entry = model.find(key);
      keys_asked.push_back(key);
      all_words.push_back(std::to_string(key));
      expected.push_back(entry == model.end() ? -1 : entry->second);
      expected_words.push_back(
          entry == model.end() ? "?" : std::string(30, 'x') + std::to_string(entry->second));
    }
    CHECK(identical(looked_up(table, tensor::vector(keys_asked), tensor::scalar<int64_t>(-1)),
                    tensor::vector(expected)));
    CHECK(identical(looked_up(words, tensor::vector(all_words), tensor::scalar(std::string{"?"})),
                    tensor::vector(expected_words)));
    auto pairs = *table.content(*memory);
    REQUIRE(pairs.keys.elements() == std::ssize(model));
    for (int64_t i = 0; i < pairs.keys.elements(); ++i)
      CHECK(model.at(pairs.keys.data<int64_t>()[i]) == pairs.values.data<int64_t>()[i]);
  }
}

TEST_CASE("a reader of a table that others change sees all of a change or none of it") {
  constexpr int64_t count = 200;
  constexpr int rounds = 200;
  lookup_table table{"t", {.key = dtype::i64, .value = dtype::i64}};
  std::vector<int64_t> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[static_cast<size_t>(i)] = i * 1000;
  auto keys = tensor::vector(numbers);
  auto all_values = [&](int64_t value) {
    return tensor::vector(std::vector<int64_t>(count, value));
  };
  std::atomic<int> torn{0}, failed{0}, writing{2};
  {
    std::vector<std::jthread> threads;
    for (int64_t writer = 1; writer <= 2; ++writer)
      threads.emplace_back([&, writer] {
        for (int round = 0; round < rounds; ++round) {
          auto value = all_values(writer * rounds + round);
          auto outcome = round % 3 == 2   ? table.remove(keys)
                         : round % 3 == 1 ? table.replace({keys, value}, heap_allocator())
                                          : table.insert({keys, value}, heap_allocator());
          failed += !outcome.ok();
        }
        --writing;
      });
    for (int reader = 0; reader < 2; ++reader)
      threads.emplace_back([&] {
        kernel_context at{nullptr, small_device()};
        auto absent = tensor::scalar<int64_t>(-1);
        auto values = *tensor::make(dtype::i64, keys.dims());
        while (writing > 0) {
          failed += !table.find(at, keys, absent, values).ok();
          for (auto value : values.values<int64_t>())
            torn += value != values.values<int64_t>()[0];
          auto pairs = table.content(heap_allocator());
          failed += !pairs.ok();
          if (pairs && pairs->keys.elements() != 0 && pairs->keys.elements() != count)
            ++torn;
        }
      });
  }
  CHECK(failed == 0);
  CHECK(torn == 0);
}

TEST_CASE("all nodes that name a table must declare it alike") {
  container tables;
  using ops::table_signature;
  auto declare = [&](table_signature holds) {
    return tables.find_or_add(std::make_shared<lookup_table>("t", holds));
  };
  table_signature plain{.key = dtype::i64, .value = dtype::f32};
  auto first = declare(plain);
  REQUIRE(first);
  CHECK(*declare(plain) == *first);
  auto conflicting = plain;
  conflicting.value_dims = shape{2};
  CHECK(declare(conflicting).status().message() ==
        "table 't' exists as i64 to f32[], and is declared again as i64 to f32[2]");
  conflicting = plain;
  conflicting.constant = true;
  CHECK_FALSE(declare(conflicting));
}

TEST_CASE("a table in a container that is cleared is empty, or not initialized") {
  container tables;
  auto keys = tensor::vector<int64_t>({1}), values = tensor::vector<int64_t>({2});
  auto constant = std::make_shared<lookup_table>(
      "c", ops::table_signature{.key = dtype::i64, .value = dtype::i64, .constant = true});
  auto mutated = std::make_shared<lookup_table>(
      "m", ops::table_signature{.key = dtype::i64, .value = dtype::i64});
  REQUIRE(tables.find_or_add(constant));
  REQUIRE(tables.find_or_add(mutated));
  REQUIRE(constant->initialize({keys, values}, heap_allocator()).ok());
  REQUIRE(mutated->insert({keys, values}, heap_allocator()).ok());
  tables.clear();
  CHECK(mutated->size() == 0);
  CHECK(constant->content(heap_allocator()).status().kind() == error_kind::failed_precondition);
  CHECK(constant->initialize({keys, tensor::vector<int64_t>({3})}, heap_allocator()).ok());
}

} // namespace troupe::test::lookup_ops_test

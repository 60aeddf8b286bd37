# Messages between the directories of nodes (runtime/cluster/directory_message.hpp). A schema of its
# own: a directory tells processes of other builds where tasks are. Fields are only ever added, at
# the end; `protocol` changes with anything else.
@0xb1f2c3a8d7e64591;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DirectoryTask {
  job @0 :Text;
  task @1 :Int32;
  address @2 :Text;            # "host:port"
  incarnation @3 :UInt64;
  claimed @4 :Bool;            # another process may still get the number
}

struct DirectoryRow {
  process @0 :UInt64;
  version @1 :UInt64;
  nodes @2 :List(Text);        # "host:port"
  tasks @3 :List(DirectoryTask);
}

struct DirectoryMessage {
  union {
    hello :group {
      protocol @0 :UInt32;
      guest @1 :Bool;
      cluster @2 :Text;
      own @3 :DirectoryRow;
    }
    list :group {
      sequence @4 :UInt64;
      informed @5 :Bool;       # the sender knows the tasks of the cluster
      complete @6 :Bool;       # the first message of a complete list
      more @7 :Bool;           # a message that continues the list follows
      rows @8 :List(DirectoryRow);
      lost @9 :List(UInt64);
      left @10 :List(UInt64);
    }
    beat :group {
      last @11 :UInt64;        # the sequence number of the last list
      knows @12 :Bool;         # as list.informed
    }
    again @13 :Void;
    leave @14 :Void;
    refusal :group {
      kind @15 :UInt8;         # troupe::error_kind
      message @16 :Text;
    }
  }
}

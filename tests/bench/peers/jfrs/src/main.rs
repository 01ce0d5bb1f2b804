// SPDX-License-Identifier: Apache-2.0
//! The stacks of a recording with their totals, by jfrs. usage: jfrs-totals FILE
//!
//! Samples are summed by the stack's number in its chunk first, and the frames of each stack are looked at once.

use jfrs::reader::event::{Accessor, Event};
use jfrs::reader::value_descriptor::{Primitive, ValueDescriptor};
use jfrs::reader::{Chunk, JfrReader};
use rustc_hash::FxHashMap;
use std::fs::File;

#[derive(Default, Clone, Copy)]
struct Sum {
    samples: i64,
    value: i64,
}

#[derive(Clone, Copy)]
enum Kind {
    Cpu,
    Alloc,
    Lock,
}

const KINDS: [&str; 3] = ["cpu", "alloc", "lock"];

type Stack = Vec<(String, String, i32)>;
type ByNumber = FxHashMap<(i64, i64), Sum>;

fn integer(value: Option<Accessor>) -> i64 {
    match value.map(|v| v.value) {
        Some(ValueDescriptor::Primitive(Primitive::Long(n))) => *n,
        Some(ValueDescriptor::Primitive(Primitive::Integer(n))) => *n as i64,
        _ => 0,
    }
}

/// The kind of an event and its value; None for what is no sample.
fn sample(event: &Event) -> Option<(Kind, i64)> {
    match event.class.name() {
        "jdk.ExecutionSample" => Some((Kind::Cpu, 1)),
        "jdk.ObjectAllocationInNewTLAB" => Some((Kind::Alloc, integer(event.value().get_field("tlabSize")))),
        "jdk.ObjectAllocationOutsideTLAB" => Some((Kind::Alloc, integer(event.value().get_field("allocationSize")))),
        "jdk.ObjectAllocationSample" => Some((Kind::Alloc, integer(event.value().get_field("weight")))),
        "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => Some((Kind::Lock, 1)),
        _ => None,
    }
}

fn text(value: Option<Accessor>) -> String {
    value
        .and_then(|v| v.get_field("string"))
        .and_then(|v| <&str>::try_from(v.value).ok())
        .unwrap_or("")
        .to_string()
}

fn frames(chunk: &Chunk, number: (i64, i64)) -> Stack {
    let stack = ValueDescriptor::ConstantPool { class_id: number.0, constant_index: number.1 };
    let frames = Accessor::new(chunk, &stack).get_field("frames").and_then(|f| f.as_iter());
    let Some(frames) = frames else { return Stack::new() };
    frames
        .map(|frame| {
            let method = frame.get_field("method");
            let name = text(method.as_ref().and_then(|m| m.get_field("name")));
            let class = text(method.and_then(|m| m.get_field("type")).and_then(|t| t.get_field("name")));
            (class, name, integer(frame.get_field("lineNumber")) as i32)
        })
        .collect()
}

fn count(event: &Event, sums: &mut [ByNumber; 3]) {
    let Some((kind, value)) = sample(event) else { return };
    let number = match event.value().get_field_raw("stackTrace").map(|v| v.value) {
        Some(ValueDescriptor::ConstantPool { class_id, constant_index }) => (*class_id, *constant_index),
        _ => (0, 0),
    };
    let sum = sums[kind as usize].entry(number).or_default();
    sum.samples += 1;
    sum.value += value;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: jfrs-totals FILE")?;
    let mut reader = JfrReader::new(File::open(path)?);
    let mut totals: [FxHashMap<Stack, Sum>; 3] = Default::default();
    let mut events = 0;
    for next in reader.chunks() {
        let (mut reader, chunk) = next?;
        let mut sums: [ByNumber; 3] = Default::default();
        for event in reader.events(&chunk) {
            events += 1;
            count(&event?, &mut sums);
        }
        for (total, sums) in totals.iter_mut().zip(sums) {
            for (number, sum) in sums {
                let entry = total.entry(frames(&chunk, number)).or_default();
                entry.samples += sum.samples;
                entry.value += sum.value;
            }
        }
    }
    let kinds: Vec<String> = KINDS
        .iter()
        .zip(&totals)
        .map(|(name, stacks)| {
            let samples: i64 = stacks.values().map(|s| s.samples).sum();
            let value: i64 = stacks.values().map(|s| s.value).sum();
            format!("\"{name}\": {{\"samples\": {samples}, \"value\": {value}, \"stacks\": {}}}", stacks.len())
        })
        .collect();
    println!("{{\"events\": {events}, {}}}", kinds.join(", "));
    Ok(())
}

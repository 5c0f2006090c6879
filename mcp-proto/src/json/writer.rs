//! Values as JSON text, as `serde_json` writes them, with its texts written by [`push_string`].

use std::fmt::Display;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use super::string::{on_one_line, push_string};

/// The name under which [`RawValue`](serde_json::value::RawValue) serializes text that is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// Appends a value as JSON.
///
/// # Errors
/// Those of the value's [`Serialize`]; a map whose keys are not strings, numbers or booleans.
pub(crate) fn push_json<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(&mut Writer { out, is_raw: false })
}

/// A value as JSON, in a text that begins with room for `capacity` bytes.
///
/// # Errors
/// As [`push_json`].
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T, capacity: usize) -> Result<String, Error> {
    let mut out = String::with_capacity(capacity);
    push_json(&mut out, value)?;
    Ok(out)
}

struct Writer<'o> {
    out: &'o mut String,
    /// The next text is JSON already.
    is_raw: bool,
}

/// An array or an object that is being written.
struct OpenNode<'w, 'o> {
    writer: &'w mut Writer<'o>,
    is_first: bool,
    end: &'static str,
}

impl<'o> Writer<'o> {
    fn open(&mut self, begin: &str, end: &'static str) -> OpenNode<'_, 'o> {
        self.out.push_str(begin);
        OpenNode { writer: self, is_first: true, end }
    }

    /// An enum variant with data: an object of one member.
    fn open_variant(&mut self, name: &str, begin: &str, end: &'static str) -> OpenNode<'_, 'o> {
        self.out.push('{');
        push_string(self.out, name);
        self.out.push(':');
        self.open(begin, end)
    }

    fn integer(&mut self, value: impl itoa::Integer) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    /// Writes a number. NaN and infinities, which JSON does not have, become null.
    fn float(&mut self, value: impl zmij::Float, is_finite: bool) {
        if is_finite {
            self.out.push_str(zmij::Buffer::new().format_finite(value))
        } else {
            self.out.push_str("null")
        }
    }

    /// A key: a number or boolean is put between quotation marks.
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let start = self.out.len();
        key.serialize(&mut *self)?;
        match self.out.as_bytes().get(start) {
            Some(b'"') => {}
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                self.out.insert(start, '"');
                self.out.push('"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }
}

impl<'w, 'o> Serializer for &'w mut Writer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = OpenNode<'w, 'o>;
    type SerializeTuple = OpenNode<'w, 'o>;
    type SerializeTupleStruct = OpenNode<'w, 'o>;
    type SerializeTupleVariant = OpenNode<'w, 'o>;
    type SerializeMap = OpenNode<'w, 'o>;
    type SerializeStruct = OpenNode<'w, 'o>;
    type SerializeStructVariant = OpenNode<'w, 'o>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.integer(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(value, value.is_finite());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(value, value.is_finite());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        push_string(self.out, value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if std::mem::take(&mut self.is_raw) {
            self.out.push_str(&on_one_line(value))
        } else {
            push_string(self.out, value)
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        push_string(self.out, variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let open = self.open_variant(variant, "", "}");
        value.serialize(&mut *open.writer)?;
        open.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open_variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<OpenNode<'w, 'o>, Error> {
        self.is_raw = name == RAW;
        Ok(if self.is_raw { self.open("", "") } else { self.open("{", "}") })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<OpenNode<'w, 'o>, Error> {
        Ok(self.open_variant(variant, "{", "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        push_string(self.out, &value.to_string());
        Ok(())
    }
}

impl OpenNode<'_, '_> {
    fn comma(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.writer.out.push(',');
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(&mut *self.writer)
    }

    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if !self.writer.is_raw {
            self.comma();
            push_string(self.writer.out, name);
            self.writer.out.push(':');
        }
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Result<(), Error> {
        self.writer.out.push_str(self.end);
        Ok(())
    }
}

impl SerializeSeq for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTuple for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTupleStruct for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeTupleVariant for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeMap for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        self.writer.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.writer.out.push(':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeStruct for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeStructVariant for OpenNode<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.member(name, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

#[cfg(test)]
mod tests;

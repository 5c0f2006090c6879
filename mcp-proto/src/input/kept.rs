//! A question as it is stored for other processes, which send it and check the answer.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::elicit::{ElicitForm, ElicitUrl};
use super::field::Field;
use super::questions::Question;
use super::sample::CreateMessage;

/// The stored form of a question.
#[derive(Serialize, Deserialize)]
enum KeptQuestion {
    Form {
        message: String,
        /// The name of each field, its schema, and whether it is required.
        fields: Vec<(String, Map<String, Value>, bool)>,
    },
    Url {
        message: String,
        url: String,
        id: String,
    },
    Sample(Box<CreateMessage>),
    Roots,
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept = match self.clone() {
            Self::Form(form) => {
                let fields = form.fields.into_iter();
                let fields = fields.map(|(name, field)| (name, field.members, field.required));
                KeptQuestion::Form { message: form.message, fields: fields.collect() }
            }
            Self::Url(ElicitUrl { message, url, id }) => KeptQuestion::Url { message, url, id },
            Self::Sample(message) => KeptQuestion::Sample(message),
            Self::Roots => KeptQuestion::Roots,
        };
        kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Question {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match KeptQuestion::deserialize(deserializer)? {
            KeptQuestion::Form { message, fields } => {
                let fields = fields.into_iter();
                let fields =
                    fields.map(|(name, members, required)| (name, Field { members, required }));
                let fields = fields.collect();
                Self::Form(Box::new(ElicitForm { message, fields }))
            }
            KeptQuestion::Url { message, url, id } => Self::Url(ElicitUrl { message, url, id }),
            KeptQuestion::Sample(message) => Self::Sample(message),
            KeptQuestion::Roots => Self::Roots,
        })
    }
}

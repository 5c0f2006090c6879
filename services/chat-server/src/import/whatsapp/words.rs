//! Words that WhatsApp writes by itself, in the languages whose exports are known; all in lower case and without a full
//! stop at the end.

use crate::model::AttachmentKind as Kind;

/// What stands before the name of a chat in the name of its file, and behind it.
pub(super) const FILE_NAMES: [(&str, &str); 19] = [
    ("WhatsApp Chat with ", ""),
    ("WhatsApp Chat - ", ""),
    ("WhatsApp Chat – ", ""),
    ("WhatsApp-Chat mit ", ""),
    ("WhatsApp Chat mit ", ""),
    ("Chat de WhatsApp con ", ""),
    ("Chat WhatsApp con ", ""),
    ("Discussion WhatsApp avec ", ""),
    ("Conversa do WhatsApp com ", ""),
    ("WhatsApp-chat met ", ""),
    ("WhatsApp-chatt med ", ""),
    ("WhatsApp-chat med ", ""),
    ("WhatsApp-keskustelu: ", ""),
    ("Czat WhatsApp z: ", ""),
    ("Чат WhatsApp с контактом ", ""),
    ("Чат WhatsApp с ", ""),
    ("WhatsApp Sohbeti - ", ""),
    ("", " ile WhatsApp Sohbeti"),
    ("与", "的 WhatsApp 聊天"),
];

/// What Android writes behind the name of a file that is there.
pub(super) const ATTACHED: [&str; 14] = [
    "file attached",
    "datei angehängt",
    "archivo adjunto",
    "fichier joint",
    "file allegato",
    "arquivo anexado",
    "ficheiro anexado",
    "bestand bijgevoegd",
    "bifogad fil",
    "fil bifogad",
    "liitetiedosto",
    "plik dołączony",
    "файл добавлен",
    "dosya ekli",
];

/// What stands for a file that is not there, whatever it was.
pub(super) const MEDIA_OMITTED: [&str; 16] = [
    "media omitted",
    "medien ausgeschlossen",
    "medien weggelassen",
    "multimedia omitido",
    "archivo omitido",
    "médias omis",
    "fichier omis",
    "media omessi",
    "mídia oculta",
    "ficheiro não revelado",
    "media weggelaten",
    "media utelämnades",
    "media jätettiin pois",
    "pominięto multimedia",
    "без медиафайлов",
    "medya dahil edilmedi",
];

/// What stands for a file that is not there, by its kind (iOS).
pub(super) const KIND_OMITTED: [(&str, Kind); 42] = [
    ("image omitted", Kind::Image),
    ("gif omitted", Kind::Image),
    ("video omitted", Kind::Video),
    ("video note omitted", Kind::Video),
    ("video message omitted", Kind::Video),
    ("audio omitted", Kind::Audio),
    ("sticker omitted", Kind::Sticker),
    ("document omitted", Kind::File),
    ("contact card omitted", Kind::File),
    ("bild weggelassen", Kind::Image),
    ("gif weggelassen", Kind::Image),
    ("video weggelassen", Kind::Video),
    ("videonachricht weggelassen", Kind::Video),
    ("audio weggelassen", Kind::Audio),
    ("sticker weggelassen", Kind::Sticker),
    ("dokument weggelassen", Kind::File),
    ("kontaktkarte ausgelassen", Kind::File),
    ("kontaktkarte weggelassen", Kind::File),
    ("imagen omitida", Kind::Image),
    ("gif omitido", Kind::Image),
    ("video omitido", Kind::Video),
    ("audio omitido", Kind::Audio),
    ("sticker omitido", Kind::Sticker),
    ("documento omitido", Kind::File),
    ("tarjeta de contacto omitida", Kind::File),
    ("image absente", Kind::Image),
    ("gif absent", Kind::Image),
    ("vidéo absente", Kind::Video),
    ("audio omis", Kind::Audio),
    ("sticker omis", Kind::Sticker),
    ("document omis", Kind::File),
    ("immagine omessa", Kind::Image),
    ("video omesso", Kind::Video),
    ("audio omesso", Kind::Audio),
    ("documento omesso", Kind::File),
    ("afbeelding weggelaten", Kind::Image),
    ("video weggelaten", Kind::Video),
    ("audio weggelaten", Kind::Audio),
    ("document weggelaten", Kind::File),
    ("imagem ocultada", Kind::Image),
    ("vídeo omitido", Kind::Video),
    ("áudio ocultado", Kind::Audio),
];

/// What stands for a message that was taken back.
pub(super) const DELETED: [&str; 25] = [
    "this message was deleted",
    "you deleted this message",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "se eliminó este mensaje",
    "eliminaste este mensaje",
    "este mensaje fue eliminado",
    "ce message a été supprimé",
    "vous avez supprimé ce message",
    "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio",
    "mensagem apagada",
    "esta mensagem foi apagada",
    "você apagou esta mensagem",
    "apagou esta mensagem",
    "dit bericht is verwijderd",
    "u hebt dit bericht verwijderd",
    "je hebt dit bericht verwijderd",
    "данное сообщение удалено",
    "вы удалили данное сообщение",
    "detta meddelande raderades",
    "tämä viesti poistettiin",
    "ta wiadomość została usunięta",
    "bu mesaj silindi",
    "تم حذف هذه الرسالة",
];

/// What begins the words for a message that somebody who runs the group has taken back.
pub(super) const DELETED_BY: [&str; 2] = [
    "this message was deleted by admin",
    "diese nachricht wurde von einem admin gelöscht",
];

/// What stands behind a message that was edited, without its angle brackets.
pub(super) const EDITED: [&str; 9] = [
    "this message was edited",
    "diese nachricht wurde bearbeitet",
    "se editó este mensaje",
    "ce message a été modifié",
    "questo messaggio è stato modificato",
    "mensagem editada",
    "esta mensagem foi editada",
    "dit bericht is bewerkt",
    "данное сообщение изменено",
];

/// What iOS writes before the name of a file that is there: `<attached: NAME>`. An old form has it behind the name.
pub(super) const IOS_ATTACHED: [&str; 10] = [
    "attached",
    "anhang",
    "adjunto",
    "pièce jointe",
    "allegato",
    "anexado",
    "bijgevoegd",
    "bifogad",
    "приложение",
    "المُرفق",
];

/// Calls, and what they are.
pub(super) const EVENTS: [(&str, &str); 12] = [
    ("missed voice call", "missed_call"),
    ("missed video call", "missed_call"),
    ("missed group voice call", "missed_call"),
    ("missed group video call", "missed_call"),
    ("verpasster sprachanruf", "missed_call"),
    ("verpasster videoanruf", "missed_call"),
    ("llamada perdida", "missed_call"),
    ("videollamada perdida", "missed_call"),
    ("voice call", "call"),
    ("video call", "call"),
    ("sprachanruf", "call"),
    ("videoanruf", "call"),
];

/// Messages whose contents never came or may be seen only once.
pub(super) const UNSEEN: [&str; 9] = [
    "null",
    "waiting for this message",
    "waiting for this message. this may take a while",
    "warte auf diese nachricht. dies kann eine weile dauern",
    "view once voice message omitted",
    "view once photo",
    "view once video",
    "live location shared",
    "live-standort wird geteilt",
];

/// What stands before the link to a place.
pub(super) const PLACES: [&str; 11] = [
    "location",
    "standort",
    "ubicación",
    "localisation",
    "posizione",
    "localização",
    "locatie",
    "местоположение",
    "konum",
    "sijainti",
    "plats",
];

//! The files of messages as resources.

use data_encoding::BASE64;
use mcp_proto_client::Client;
use serde_json::{Value, json};

use super::harness::{BOTH, TestSetup, structured, zip_of};

const FOLDER: &str =
    "[[source]]\nid = \"whatsapp\"\nkind = \"whatsapp-export\"\npath = \"chats\"\n";

/// The one attachment of a chat, as its message lists it.
async fn attachment_of(client: &Client, chat: &str) -> Value {
    let asked = json!({ "source": "whatsapp", "chat": chat });
    let mut told = structured(client, "get_messages", asked).await;
    told["messages"][0]["attachments"][0].take()
}

async fn read(client: &Client, uri: &Value) -> Result<Value, Value> {
    let read = client.request("resources/read", json!({ "uri": uri }));
    match read.await {
        Ok(mut read) => Ok(read["contents"][0].take()),
        Err(mcp_proto_client::ClientError::Rpc(error)) => Err(json!(error)),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_folder_of_zips_gives_out_what_is_in_each() {
    let setup = TestSetup::new(FOLDER);
    let large = vec![0; 10 * 1024 * 1024 + 1];
    // The same name in both, as WhatsApp counts from 1 in each chat.
    for (chat, sender, file, bytes) in [
        ("Ann: the 1st", "Ann", "00000001-PHOTO.jpg", &b"of Ann"[..]),
        ("Bob", "Bob", "00000001-PHOTO.jpg", b"of Bob"),
        ("Large", "Cid", "00000002-VIDEO.mp4", &large),
    ] {
        let text = format!("[13.01.25, 09:00:00] {sender}: \u{200e}<attached: {file}>\n");
        let zip = zip_of(&[("_chat.txt", text.as_bytes()), (file, bytes)]);
        setup.write_bytes(&format!("chats/WhatsApp Chat - {chat}.zip"), &zip);
    }
    setup.write(
        "chats/WhatsApp Chat with Dan.txt",
        "13/01/2025, 09:00 - Dan: notes.pdf (file attached)\n",
    );
    setup.write("chats/notes.pdf", "of Dan");
    let running = setup.start();
    for era in BOTH {
        let client = running.client(era).await;
        for (chat, media_type, bytes) in [
            ("Ann: the 1st", "image/jpeg", "of Ann"),
            ("Bob", "image/jpeg", "of Bob"),
            ("Dan", "application/pdf", "of Dan"),
        ] {
            let attachment = attachment_of(&client, chat).await;
            assert_eq!(attachment["media_type"], media_type, "{attachment}");
            let blob = read(&client, &attachment["uri"]).await.unwrap();
            assert_eq!(blob["uri"], attachment["uri"]);
            assert_eq!(blob["mimeType"], media_type);
            assert_eq!(blob["blob"], BASE64.encode(bytes.as_bytes()), "{blob}");
        }
        let large = attachment_of(&client, "Large").await;
        let refused = read(&client, &large["uri"]).await.unwrap_err();
        assert_eq!(refused["data"]["code"], "ATTACHMENT_TOO_LARGE", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("10485761"), "{message}");
    }
    // It is gone.
    let client = running.client(BOTH[0]).await;
    let uri = attachment_of(&client, "Bob").await["uri"].take();
    std::fs::remove_file(setup.path("chats/WhatsApp Chat - Bob.zip")).unwrap();
    let refused = read(&client, &uri).await.unwrap_err();
    assert_eq!(refused["data"]["code"], "ATTACHMENT_NOT_FOUND", "{refused}");
}
